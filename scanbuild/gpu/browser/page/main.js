// The page: says hello, makes the device that scanbuild asks for, runs what it sends, and shows how it goes.

import { describeAdapter, describeDevice, findAdapter, lacking, openDevice } from "./device.js";
import { Refusal, Runner } from "./job.js";
import { Link, pause } from "./link.js";
import { Stopwatch } from "./timing.js";
import * as view from "./view.js";

const PROTOCOL = 1;
const OPENED_ONCE_MORE = 4001;
const BROKE_THE_RULES = 1008;
const LONGEST_PAUSE = 5000;
// A compiler may quote the shader, over and over; the terminal shows less than this.
const LONGEST_WORDS = 8000;

// It lasts over reloads; a browser that is driven by a program has it in the address.
const identity = location.hash.slice(1) || (sessionStorage.id ??= [...crypto.getRandomValues(new Uint8Array(12))]
  .map((byte) => byte.toString(16).padStart(2, "0"))
  .join(""));

let link = null;
let offer = null;
let device = null;
let runner = null;
let stopwatch = null;
let total = 0;
let done = 0;
let seen = 0;
let ended = false;
let tries = 0;
let openings = 0;

/** What to do with each kind of message. */
const actions = {
  wait() {
    view.say("Waiting for its turn", "scanbuild tests one device after another.");
  },

  async open(body) {
    const from = link;
    const opening = ++openings;
    view.say("Asking for the GPU …");
    release();
    try {
      const made = await openDevice(body);
      const told = await describeDevice(made);
      if (opening !== openings) {
        // Asked once more meanwhile, perhaps over another connection.
        made.destroy();
        return;
      }
      device = made;
      runner = new Runner(made);
      stopwatch = new Stopwatch(made, runner);
      watch(made, from);
      view.showDevice(offer, told);
      view.say("Ready", "The terminal sends the cases.");
      from.send("device", told);
    } catch (error) {
      view.say("The browser gives no GPU device", String(error.message), "bad");
      from.send("refused", { message: String(error.message) });
    }
  },

  async run({ number, job }, contents) {
    await answer(number, async (current) => {
      const { seconds, data } = await current.run(job, contents);
      return ["result", { seconds }, data];
    });
  },

  async compile({ number, wgsl }) {
    await answer(number, async (current) => {
      await current.compile(wgsl);
      return ["compiled", {}, []];
    });
  },

  async clock({ number, ...body }) {
    await answer(number, async () => {
      const { step, data } = await stopwatch.clock(body);
      return ["clock", { step }, data];
    });
  },

  async time({ number, ...body }) {
    await answer(number, async () => ["timed", { seconds: await stopwatch.time(body) }, []]);
  },

  begin(body) {
    seen += 1;
    total = body.total;
    done = 0;
    view.setTitle(body.title);
    view.clearCases();
    view.showProgress(done, total);
    stayAwake();
  },

  case({ name }) {
    seen += 1;
    view.say("Running", name);
  },

  verdict(body) {
    seen += 1;
    done += 1;
    view.addCase(body);
    view.showProgress(done, total);
  },

  end({ headline, detail, good }) {
    ended = true;
    view.say(headline, detail, good ? "good" : "bad");
    release();
  },
};

for (const kind of ["reserve", "fill", "load", "release"]) {
  actions[kind] = ({ number, ...body }, contents) =>
    answer(number, async () => {
      await stopwatch[kind](body, contents);
      return ["done", {}, []];
    });
}

/** Works on a request with the present device and sends back what comes of it, unless the connection is another by then. */
async function answer(number, work) {
  const from = link;
  const current = device;
  let reply;
  try {
    if (!runner) throw new Refusal("device-lost", "there is no device");
    reply = await Promise.race([work(runner), lossOf(current)]);
  } catch (error) {
    const rule = error instanceof Refusal ? error.rule : "engine-validation";
    const message = String(error.message).slice(0, LONGEST_WORDS);
    reply = ["failed", { rule, message, dispatch: error.dispatch ?? null }, []];
  }
  const [kind, body, contents] = reply;
  if (from === link) await link.send(kind, { ...body, number }, contents);
}

async function lossOf(current) {
  const { message, reason } = await current.lost;
  throw new Refusal("device-lost", message || reason || "the browser gives no reason");
}

/** Tells of a device that is lost while nothing runs. */
async function watch(current, from) {
  const { message, reason } = await current.lost;
  if (current !== device) return;
  device = runner = stopwatch = null;
  view.say("The GPU device was lost", message || reason, "odd");
  if (from === link) from.send("lost", { message: message || reason });
}

/** Gives the device back. Its loss is no news then. */
function release() {
  const old = device;
  device = runner = stopwatch = null;
  old?.destroy();
}

async function stayAwake() {
  try {
    await navigator.wakeLock?.request("screen");
  } catch {
    // A battery saver, or a page in the background: the device may fall asleep, and the page comes back after that.
  }
}

function connect() {
  const address = new URL("socket", location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  address.hash = address.search = "";
  const made = new Link(address, {
    onOpen() {
      tries = 0;
      made.send("hello", { protocol: PROTOCOL, id: identity, seen, userAgent: navigator.userAgent, ...offered() });
      view.say("Connected", "The terminal answers in a moment.");
    },
    onMessage(kind, body, contents) {
      if (made === link) actions[kind]?.(body, contents);
    },
    onEnd(code, reason) {
      if (made === link) reconnect(code, reason);
    },
  });
  link = made;
}

function offered() {
  return { adapter: offer, wgslLanguageFeatures: [...(navigator.gpu.wgslLanguageFeatures ?? [])].sort() };
}

async function reconnect(code, reason) {
  if (ended) return;
  if (code === OPENED_ONCE_MORE) {
    view.say("This page was opened once more", "The other one goes on with the cases.", "odd");
    return;
  }
  if (code === BROKE_THE_RULES) {
    view.say("scanbuild cut the connection", reason, "bad");
    return;
  }
  view.say(
    tries ? "There is no connection to scanbuild" : "The connection was lost",
    "Trying again. If the terminal has ended, this page can be closed.",
    "odd",
  );
  await pause(Math.min(500 * 2 ** tries++, LONGEST_PAUSE));
  connect();
}

/** Tells the terminal, too, why nothing will come of this browser. */
function tellProblem(problem) {
  const address = new URL("socket", location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  const made = new Link(address, {
    onOpen: () => made.send("hello", { protocol: PROTOCOL, id: identity, userAgent: navigator.userAgent, problem }),
    onMessage: () => {},
    onEnd: () => {},
  });
}

async function start() {
  const problem = lacking();
  if (problem) {
    view.say("This browser cannot run WebGPU here", problem, "bad");
    tellProblem(problem);
    return;
  }
  const adapter = await findAdapter(2);
  if (!adapter) {
    const words =
      "The browser has WebGPU, but offers no adapter: its GPU or driver may be on the browser's list of those that do " +
      "not work, or hardware acceleration is switched off. The page chrome://gpu (or about:support) tells more.";
    view.say("There is no usable GPU", words, "bad");
    tellProblem(words);
    return;
  }
  offer = describeAdapter(adapter);
  connect();
}

start();
