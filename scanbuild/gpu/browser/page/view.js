// What a page shows of a test. Names and messages come from packages that nobody may know: they are only ever text.

const SHOWN = 500;

/** What a test shows, in the elements that `at` finds by name. */
export class View {
  #at;

  constructor(at) {
    this.#at = at;
  }

  /** The large line, its explanation, and a mood: busy, good, bad or odd. */
  say(headline, detail = "", mood = "busy") {
    this.#at("headline").textContent = headline;
    this.#at("detail").textContent = detail;
    this.#at("status").dataset.mood = mood;
  }

  setTitle(title) {
    this.#at("title").textContent = title;
    document.title = `${title}: scanbuild`;
  }

  showProgress(done, total) {
    this.#at("progress").hidden = !total;
    this.#at("bar").max = total || 1;
    this.#at("bar").value = done;
    this.#at("count").textContent = `${done} of ${total} done`;
  }

  /** Forgets the cases of an earlier run. */
  clearCases() {
    this.#at("cases").replaceChildren();
    this.#at("results").hidden = true;
  }

  /** Adds a case on top of the list. */
  addCase({ name, verdict, good, variant, seconds, message }) {
    const row = element("div", "row", [element("span", "verdict", verdict), element("span", "name", breakable(name))]);
    if (variant) row.append(element("span", "variant", breakable(variant)));
    if (seconds) row.append(element("span", "time", timeText(seconds)));
    const item = element("li", good === true ? "good" : good === false ? "bad" : "", [row]);
    if (message) item.append(element("pre", "", message));
    const list = this.#at("cases");
    list.prepend(item);
    if (list.children.length > SHOWN) (list.querySelector("li.good:last-of-type") ?? list.lastElementChild).remove();
    this.#at("results").hidden = false;
  }

  showDevice({ info }, device) {
    this.#at("device").hidden = false;
    const { subgroupMinSize: least, subgroupMaxSize: most } = info;
    const sizes = least === undefined ? "not told" : least === most ? `${least}` : `${least} to ${most}`;
    this.#fillList("facts", {
      Vendor: info.vendor || "not told",
      Architecture: info.architecture || "not told",
      ...(info.device && { Device: info.device }),
      ...(info.description && { Description: info.description }),
      Kind: info.isFallbackAdapter ? "software: it computes on the CPU" : "hardware, as far as the browser tells",
      "Subgroup size": device.subgroupSize ? `${sizes}; a shader sees ${device.subgroupSize}` : sizes,
      ...(device.compileFailures.length && { "Does not compile": device.compileFailures.join(", ") }),
    });
    this.#fillNames("features", device.features);
    this.#fillNames("language", [...(navigator.gpu.wgslLanguageFeatures ?? [])].sort());
    this.#fillList("limits", device.limits);
  }

  #fillList(id, facts) {
    const entries = Object.entries(facts).flatMap(([name, value]) => [
      element("dt", "", breakable(name)),
      element("dd", "", typeof value === "number" ? value.toLocaleString("en") : value),
    ]);
    this.#at(id).replaceChildren(...entries);
  }

  #fillNames(id, names) {
    this.#at(id).replaceChildren(...(names.length ? names : ["none"]).map((name) => element("li", "", name)));
  }
}

/** A time in the unit that suits it. */
function timeText(seconds) {
  return seconds < 1e-4 ? `${(seconds * 1e6).toFixed(1)} µs` : `${(seconds * 1000).toFixed(1)} ms`;
}

/** A long name that may be broken where its words begin. */
function breakable(name) {
  return String(name)
    .split(/(?<=[_/.-])|(?<=[a-z0-9])(?=[A-Z])/)
    .flatMap((word) => [word, document.createElement("wbr")]);
}

function element(tag, className, content) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (Array.isArray(content)) made.append(...content);
  else made.textContent = content ?? "";
  return made;
}
