// The page of packages: shows files where they are listed, and runs a package's tests when its button is pressed.

import { Guest, newIdentity } from "/-/engine/guest.js";
import { socketAddress } from "/-/engine/link.js";
import { View } from "/-/engine/view.js";

/** A test's view on a card, which has a title of its own. */
class CardView extends View {
  #status;

  constructor(at) {
    super(at);
    this.#status = at("status");
  }

  say(...words) {
    this.#status.hidden = false;
    super.say(...words);
  }

  setTitle() {}
}

/** Lets the tests of a card be run. */
function setUp(card) {
  const at = (name) => card.querySelector(`[data-part="${name}"]`);
  const view = new CardView(at);
  let guest = null;

  function show(running) {
    // The focus must not vanish with the button that has it.
    const focused = [at("run"), at("stop")].includes(document.activeElement);
    at("run").disabled = running;
    at("stop").hidden = !running;
    if (focused) at(running ? "stop" : "run").focus();
  }

  async function run() {
    show(true);
    view.clearCases();
    view.showProgress(0, 0);
    view.say("Starting …");
    const made = { stopped: false };
    guest = { stop: () => (made.stopped = true) };
    try {
      const trial = await begin(card.dataset.package);
      if (made.stopped) return;
      guest = new Guest({
        address: socketAddress(`/-/tests/${trial}/socket`),
        identity: newIdentity(),
        view,
        onEnd: () => show(false),
      });
      await guest.start();
    } catch (error) {
      view.say("The tests cannot be run", error.message, "bad");
      show(false);
    }
  }

  at("run").addEventListener("click", run);
  at("stop").addEventListener("click", () => {
    guest?.stop();
    show(false);
    view.say("Stopped", "What ran until then is below.", "odd");
  });
  at("run").disabled = false;
}

/** The token of new tests of a package; an Error in words if there can be none. */
async function begin(name) {
  let answer;
  try {
    answer = await fetch("/-/tests", {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Scanbuild-Token": document.body.dataset.token },
      body: JSON.stringify({ package: name }),
    });
  } catch {
    throw new Error("There is no connection to scanbuild. Does it still run?");
  }
  const isJson = answer.headers.get("Content-Type") === "application/json";
  const said = isJson ? await answer.json() : { message: await answer.text() };
  if (answer.status === 403) throw new Error("scanbuild was started anew. Load this page again.");
  if (!answer.ok) throw new Error(said.message);
  return said.trial;
}

/** Shows a file below its name, as its own page has it, and anew each time it is opened. */
async function showFile(details) {
  const old = details.querySelector("pre, .failed");
  let shown;
  try {
    const answer = await fetch(details.dataset.view);
    if (!answer.ok) throw new Error(answer.status === 404 ? "The file is not there any more." : `Status ${answer.status}`);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    shown = document.importNode(page.querySelector("pre"), true);
  } catch (error) {
    shown = document.createElement("p");
    shown.className = "failed bad";
    shown.textContent = error.message;
  }
  old?.remove();
  details.append(shown);
}

for (const card of document.querySelectorAll(".trial")) setUp(card);
for (const details of document.querySelectorAll("details.file")) {
  details.addEventListener("toggle", () => details.open && showFile(details));
}
