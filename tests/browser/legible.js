// How many texts the page shows, and those whose contrast with their ground is less than WCAG asks for.
() => {
  const light = (colour) => {
    const [red, green, blue] = colour.match(/[\d.]+/g).map((part) => {
      const share = part / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ground = (node) => {
    const colour = getComputedStyle(node).backgroundColor;
    return colour === "rgba(0, 0, 0, 0)" ? ground(node.parentElement) : colour;
  };
  const contrast = (node) => {
    const [dark, bright] = [light(getComputedStyle(node).color), light(ground(node))].sort((one, other) => one - other);
    return (bright + 0.05) / (dark + 0.05);
  };
  const hasText = (node) => [...node.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.trim());
  const texts = [...document.querySelectorAll("body *")].filter((node) => node.checkVisibility() && hasText(node));
  const poor = texts.filter((node) => contrast(node) < 4.5).map((node) => node.textContent.slice(0, 40));
  return [texts.length, poor];
};
