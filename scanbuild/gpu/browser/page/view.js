// What the page shows. Names and messages come from packages that nobody may know: they are only ever text.

const SHOWN = 500;
const at = (id) => document.getElementById(id);

/** The large line, its explanation, and a mood: busy, good, bad or odd. */
export function say(headline, detail = "", mood = "busy") {
  at("headline").textContent = headline;
  at("detail").textContent = detail;
  at("status").dataset.mood = mood;
}

export function setTitle(title) {
  at("title").textContent = title;
  document.title = `${title}: scanbuild`;
}

export function showProgress(done, total) {
  at("progress").hidden = !total;
  at("bar").max = total || 1;
  at("bar").value = done;
  at("count").textContent = `${done} of ${total} done`;
}

/** Forgets the cases of an earlier run. */
export function clearCases() {
  at("cases").replaceChildren();
  at("results").hidden = true;
}

/** Adds a case on top of the list. */
export function addCase({ name, verdict, good, variant, seconds, message }) {
  const row = element("div", "row", [element("span", "verdict", verdict), element("span", "name", breakable(name))]);
  if (variant) row.append(element("span", "variant", breakable(variant)));
  if (seconds) row.append(element("span", "time", timeText(seconds)));
  const item = element("li", good === true ? "good" : good === false ? "bad" : "", [row]);
  if (message) item.append(element("pre", "", message));
  const list = at("cases");
  list.prepend(item);
  if (list.children.length > SHOWN) (list.querySelector("li.good:last-of-type") ?? list.lastElementChild).remove();
  at("results").hidden = false;
}

export function showDevice({ info }, device) {
  at("device").hidden = false;
  const { subgroupMinSize: least, subgroupMaxSize: most } = info;
  const sizes = least === undefined ? "not told" : least === most ? `${least}` : `${least} to ${most}`;
  fillList("facts", {
    Vendor: info.vendor || "not told",
    Architecture: info.architecture || "not told",
    ...(info.device && { Device: info.device }),
    ...(info.description && { Description: info.description }),
    Kind: info.isFallbackAdapter ? "software: it computes on the CPU" : "hardware, as far as the browser tells",
    "Subgroup size": device.subgroupSize ? `${sizes}; a shader sees ${device.subgroupSize}` : sizes,
    ...(device.compileFailures.length && { "Does not compile": device.compileFailures.join(", ") }),
  });
  fillNames("features", device.features);
  fillNames("language", [...(navigator.gpu.wgslLanguageFeatures ?? [])].sort());
  fillList("limits", device.limits);
}

/** A time in the unit that suits it. */
function timeText(seconds) {
  return seconds < 1e-4 ? `${(seconds * 1e6).toFixed(1)} µs` : `${(seconds * 1000).toFixed(1)} ms`;
}

function fillList(id, facts) {
  const entries = Object.entries(facts).flatMap(([name, value]) => [
    element("dt", "", breakable(name)),
    element("dd", "", typeof value === "number" ? value.toLocaleString("en") : value),
  ]);
  at(id).replaceChildren(...entries);
}

function fillNames(id, names) {
  at(id).replaceChildren(...(names.length ? names : ["none"]).map((name) => element("li", "", name)));
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
