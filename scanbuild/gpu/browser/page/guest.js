// A browser's part in a test: says hello, makes the device that scanbuild asks for, runs what it sends, and shows how
// it goes on whatever view it is given.

import { describeAdapter, describeDevice, findAdapter, lacking, openDevice } from "./device.js";
import { Refusal, Runner } from "./job.js";
import { Link, pause } from "./link.js";
import { Stopwatch } from "./timing.js";

const PROTOCOL = 1;
const OPENED_ONCE_MORE = 4001;
const BROKE_THE_RULES = 1008;
const LONGEST_PAUSE = 5000;
// A compiler may quote the shader, over and over; the terminal shows less than this.
const LONGEST_WORDS = 8000;

/** A name that nobody else has. */
export function newIdentity() {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Guest {
  #address;
  #identity;
  #view;
  #onEnd;
  #link = null;
  #offer = null;
  #device = null;
  #runner = null;
  #stopwatch = null;
  #total = 0;
  #done = 0;
  #seen = 0;
  #ended = false;
  #tries = 0;
  #openings = 0;

  /** `address` is that of the WebSocket; `onEnd` is called once, when nothing more will come. */
  constructor({ address, identity, view, onEnd = () => {} }) {
    this.#address = address;
    this.#identity = identity;
    this.#view = view;
    this.#onEnd = onEnd;
  }

  async start() {
    const problem = lacking();
    if (problem) return this.#cannot("This browser cannot run WebGPU here", problem);
    const adapter = await findAdapter(2);
    if (!adapter) {
      return this.#cannot(
        "There is no usable GPU",
        "The browser has WebGPU, but offers no adapter: its GPU or driver may be on the browser's list of those that " +
          "do not work, or hardware acceleration is switched off. The page chrome://gpu (or about:support) tells more.",
      );
    }
    this.#offer = describeAdapter(adapter);
    if (!this.#ended) this.#connect();
  }

  /** Takes no further part. */
  stop() {
    this.#finish();
    this.#link?.close();
    this.#link = null;
  }

  /** What to do with each kind of message. */
  #actions = {
    wait: () => this.#view.say("Waiting for its turn", "scanbuild tests one device after another."),
    open: (body) => this.#open(body),
    run: ({ number, job }, contents) =>
      this.#answer(number, async (current) => {
        const { seconds, data } = await current.run(job, contents);
        return ["result", { seconds }, data];
      }),
    compile: ({ number, wgsl }) =>
      this.#answer(number, async (current) => {
        await current.compile(wgsl);
        return ["compiled", {}, []];
      }),
    clock: ({ number, ...body }) =>
      this.#answer(number, async () => {
        const { step, data } = await this.#stopwatch.clock(body);
        return ["clock", { step }, data];
      }),
    time: ({ number, ...body }) =>
      this.#answer(number, async () => ["timed", { seconds: await this.#stopwatch.time(body) }, []]),
    reserve: (body, contents) => this.#keep("reserve", body, contents),
    fill: (body, contents) => this.#keep("fill", body, contents),
    load: (body, contents) => this.#keep("load", body, contents),
    release: (body, contents) => this.#keep("release", body, contents),
    begin: (body) => {
      this.#seen += 1;
      this.#total = body.total;
      this.#done = 0;
      this.#view.setTitle(body.title);
      this.#view.clearCases();
      this.#view.showProgress(this.#done, this.#total);
      stayAwake();
    },
    case: ({ name }) => {
      this.#seen += 1;
      this.#view.say("Running", name);
    },
    verdict: (body) => {
      this.#seen += 1;
      this.#done += 1;
      this.#view.addCase(body);
      this.#view.showProgress(this.#done, this.#total);
    },
    end: ({ headline, detail, good }) => {
      this.#view.say(headline, detail, good ? "good" : "bad");
      this.#finish();
    },
  };

  async #open(body) {
    const from = this.#link;
    const opening = ++this.#openings;
    this.#view.say("Asking for the GPU …");
    this.#release();
    try {
      const made = await openDevice(body);
      const told = await describeDevice(made);
      if (opening !== this.#openings || this.#ended) {
        // Asked once more meanwhile, perhaps over another connection.
        made.destroy();
        return;
      }
      this.#device = made;
      this.#runner = new Runner(made);
      this.#stopwatch = new Stopwatch(made, this.#runner);
      this.#watch(made, from);
      this.#view.showDevice(this.#offer, told);
      this.#view.say("Ready", "The terminal sends the cases.");
      from.send("device", told);
    } catch (error) {
      this.#view.say("The browser gives no GPU device", String(error.message), "bad");
      from.send("refused", { message: String(error.message) });
    }
  }

  #keep(kind, { number, ...body }, contents) {
    return this.#answer(number, async () => {
      await this.#stopwatch[kind](body, contents);
      return ["done", {}, []];
    });
  }

  /** Works on a request with the present device and sends back what comes of it, unless the connection is another by then. */
  async #answer(number, work) {
    const from = this.#link;
    const current = this.#device;
    let reply;
    try {
      if (!this.#runner) throw new Refusal("device-lost", "there is no device");
      reply = await Promise.race([work(this.#runner), lossOf(current)]);
    } catch (error) {
      const rule = error instanceof Refusal ? error.rule : "engine-validation";
      const message = String(error.message).slice(0, LONGEST_WORDS);
      reply = ["failed", { rule, message, dispatch: error.dispatch ?? null }, []];
    }
    const [kind, body, contents] = reply;
    if (from === this.#link) await from?.send(kind, { ...body, number }, contents);
  }

  /** Tells of a device that is lost while nothing runs. */
  async #watch(current, from) {
    const { message, reason } = await current.lost;
    if (current !== this.#device) return;
    this.#device = this.#runner = this.#stopwatch = null;
    this.#view.say("The GPU device was lost", message || reason, "odd");
    if (from === this.#link) from.send("lost", { message: message || reason });
  }

  /** Gives the device back. Its loss is no news then. */
  #release() {
    const old = this.#device;
    this.#device = this.#runner = this.#stopwatch = null;
    old?.destroy();
  }

  #finish() {
    if (this.#ended) return;
    this.#ended = true;
    this.#release();
    this.#onEnd();
  }

  #connect() {
    const made = new Link(this.#address, {
      onOpen: () => {
        this.#tries = 0;
        made.send("hello", { ...this.#hello(), seen: this.#seen, adapter: this.#offer, wgslLanguageFeatures: language() });
        this.#view.say("Connected", "The terminal answers in a moment.");
      },
      onMessage: (kind, body, contents) => {
        if (made === this.#link) this.#actions[kind]?.(body, contents);
      },
      onEnd: (code, reason) => {
        if (made === this.#link) this.#reconnect(code, reason);
      },
    });
    this.#link = made;
  }

  async #reconnect(code, reason) {
    if (this.#ended) return;
    if (code === OPENED_ONCE_MORE) {
      this.#view.say("This page was opened once more", "The other one goes on with the cases.", "odd");
      return;
    }
    if (code === BROKE_THE_RULES) {
      this.#view.say("scanbuild cut the connection", reason, "bad");
      this.#finish();
      return;
    }
    this.#view.say(
      this.#tries ? "There is no connection to scanbuild" : "The connection was lost",
      "Trying again. If the terminal has ended, this page can be closed.",
      "odd",
    );
    await pause(Math.min(500 * 2 ** this.#tries++, LONGEST_PAUSE));
    if (!this.#ended) this.#connect();
  }

  /** Tells the terminal, too, why nothing will come of this browser. */
  #cannot(headline, problem) {
    this.#view.say(headline, problem, "bad");
    const made = new Link(this.#address, {
      onOpen: () => made.send("hello", { ...this.#hello(), problem }),
      onMessage: () => {},
      onEnd: () => {},
    });
    this.#finish();
  }

  #hello() {
    return { protocol: PROTOCOL, id: this.#identity, userAgent: navigator.userAgent };
  }
}

function language() {
  return [...(navigator.gpu.wgslLanguageFeatures ?? [])].sort();
}

async function lossOf(current) {
  const { message, reason } = await current.lost;
  throw new Refusal("device-lost", message || reason || "the browser gives no reason");
}

async function stayAwake() {
  try {
    await navigator.wakeLock?.request("screen");
  } catch {
    // A battery saver, or a page in the background: the device may fall asleep, and the page comes back after that.
  }
}
