// Timing plans: memory that lasts, plans bound to it, and runs of them between two readings of a clock. What is run, how
// often and beside what, scanbuild decides.

import { Refusal } from "./job.js";

const STAMP_BYTES = 8;
const NANOSECONDS = 1e9;
// Copies in one submission while memory is filled: drivers dislike long queues of them.
const COPY_BYTES = 1 << 26;
const STEPS_SEEN = 20;

export class Stopwatch {
  #device;
  #runner;
  #memories = new Map();
  #loads = new Map();

  constructor(device, runner) {
    this.#device = device;
    this.#runner = runner;
  }

  /** Adds buffers to a memory, which begins with its first ones. */
  async reserve({ memory, job }, contents) {
    const buffers = await this.#runner.allocate(job, contents);
    if (!this.#memories.has(memory)) this.#memories.set(memory, { buffers: [], turn: 0 });
    this.#memories.get(memory).buffers.push(...buffers);
  }

  /** Copies a block over and over into every place of a tensor. */
  async fill({ memory, buffer, size, stride, slices, job }, contents) {
    const target = this.#memory(memory).buffers[buffer];
    const [source] = await this.#runner.allocate(job, contents);
    try {
      await this.#runner.guarded("engine-validation", () => {
        const recorder = new Recorder(this.#device);
        let pending = 0;
        for (let slice = 0; slice < slices; slice++) {
          for (let offset = 0; offset < size; offset += source.size) {
            const part = Math.min(source.size, size - offset);
            recorder.encoder.copyBufferToBuffer(source, 0, target, slice * stride + offset, part);
            pending += part;
            if (pending >= COPY_BYTES) {
              recorder.cut();
              pending = 0;
            }
          }
        }
        recorder.submit();
      });
      await this.#device.queue.onSubmittedWorkDone();
    } finally {
      source.destroy();
    }
  }

  /** Compiles a plan and binds it to a memory. */
  async load({ memory, load, clears, strides, slices, job }) {
    const place = this.#memory(memory);
    const pipelines = await this.#runner.pipelinesOf(job);
    this.#loads.set(load, new Load(this.#device, place, job, pipelines, { clears, strides, slices }));
  }

  /** Destroys the buffers of a memory, and forgets the plans that are bound to it. */
  release({ memory }) {
    const place = this.#memories.get(memory);
    this.#memories.delete(memory);
    for (const [number, load] of this.#loads) if (load.memory === place) this.#loads.delete(number);
    for (const buffer of place?.buffers ?? []) buffer.destroy();
  }

  /** So many readings of the device's clock, and the step in which the page's own clock advances, in seconds. */
  async clock({ probes, readings }) {
    if (!probes) return { step: [clockStep()], data: [] };
    const data = new BigUint64Array(readings * 2 * probes);
    for (let reading = 0; reading < readings; reading++) {
      const stamps = await this.#stamped(probes, (recorder, querySet) => {
        for (let index = 0; index < probes; index++) {
          const [start, end] = writes(querySet, index);
          recorder.encoder.beginComputePass({ timestampWrites: { ...start, ...end } }).end();
        }
      });
      data.set(stamps, reading * stamps.length);
    }
    return { step: [], data: [new Uint8Array(data.buffer)] };
  }

  /** The seconds of every run, after what comes before them; all runs are looked up first. */
  async time({ timestamps, before, runs }) {
    const asked = runs.map(([number, times, leadIn]) => ({ load: this.#load(number), times, leadIn }));
    if (timestamps) return this.#byDevice(asked, before && { load: this.#load(before[0]), times: before[1] });
    const seconds = [];
    for (const run of asked) seconds.push(await this.#byHost(run));
    await this.#device.queue.onSubmittedWorkDone();
    return seconds;
  }

  async #byDevice(runs, before) {
    const stamps = await this.#stamped(runs.length, (recorder, querySet) => {
      if (before) encodeCalls(recorder, before.load, before.times);
      runs.forEach((run, index) => encodeRun(recorder, run, writes(querySet, index)));
    });
    return runs.map((_, index) => Number(stamps[2 * index + 1] - stamps[2 * index]) / NANOSECONDS);
  }

  /** Everything is encoded beforehand: the clock runs from the submission until the device has ended. */
  async #byHost({ load, times, leadIn }) {
    const { queue } = this.#device;
    const recorder = new Recorder(this.#device);
    await this.#runner.guarded("engine-validation", () => {
      encodeCalls(recorder, load, leadIn);
      recorder.submit();
      encodeCalls(recorder, load, times);
      recorder.cut();
    });
    await queue.onSubmittedWorkDone();
    let ended;
    const begin = performance.now();
    await this.#runner.guarded("engine-validation", () => {
      recorder.submit();
      ended = queue.onSubmittedWorkDone().then(() => performance.now());
    });
    return ((await ended) - begin) / 1000;
  }

  /** What the device's clock showed at `2 * count` points that `encode` puts into a query set. */
  async #stamped(count, encode) {
    const size = 2 * count * STAMP_BYTES;
    const own = [];
    const made = (resource) => (own.push(resource), resource);
    try {
      const staging = await this.#runner.guarded("engine-validation", () => {
        const querySet = made(this.#device.createQuerySet({ type: "timestamp", count: 2 * count }));
        const resolved = GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC;
        const target = made(this.#device.createBuffer({ size, usage: resolved }));
        const mapped = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
        const readable = made(this.#device.createBuffer({ size, usage: mapped }));
        const recorder = new Recorder(this.#device);
        encode(recorder, querySet);
        recorder.encoder.resolveQuerySet(querySet, 0, 2 * count, target, 0);
        recorder.encoder.copyBufferToBuffer(target, 0, readable, 0, size);
        recorder.submit();
        return readable;
      });
      await staging.mapAsync(GPUMapMode.READ);
      return new BigUint64Array(staging.getMappedRange().slice(0));
    } finally {
      for (const resource of own) resource.destroy();
    }
  }

  #memory(number) {
    return this.#memories.get(number) ?? gone();
  }

  #load(number) {
    return this.#loads.get(number) ?? gone();
  }
}

/** A plan bound to memory. Calls take turns on the slices of it. */
class Load {
  memory;
  #device;
  #job;
  #pipelines;
  #clears;
  #strides;
  #slices;
  #groups = new Map();

  constructor(device, memory, job, pipelines, { clears, strides, slices }) {
    this.memory = memory;
    this.#device = device;
    this.#job = job;
    this.#pipelines = pipelines;
    this.#clears = clears.map((index) => memory.buffers[index]);
    this.#strides = strides;
    this.#slices = slices;
  }

  /** Whether its dispatches can all stand in one compute pass: nothing is cleared or submitted between them. */
  get isPlain() {
    return !this.#clears.length && !this.#job.dispatches.slice(0, -1).some((item) => item.submitAfter);
  }

  /** Encodes one call into an open compute pass. */
  dispatch(pass) {
    const groups = this.#nextGroups();
    this.#job.dispatches.forEach((item, index) => this.#one(pass, item, index, groups));
  }

  /** Encodes one call with its clears and submissions; `last` are the timestamp writes of the last compute pass. */
  encode(recorder, last) {
    for (const buffer of this.#clears) recorder.encoder.clearBuffer(buffer);
    const groups = this.#nextGroups();
    const { dispatches } = this.#job;
    for (let index = 0; index < dispatches.length; ) {
      const cut = dispatches.findIndex((item, at) => at >= index && item.submitAfter);
      const end = cut < 0 ? dispatches.length : cut + 1;
      const isLast = end === dispatches.length;
      const pass = recorder.encoder.beginComputePass(isLast && last ? { timestampWrites: last } : {});
      for (; index < end; index++) this.#one(pass, dispatches[index], index, groups);
      pass.end();
      if (!isLast) recorder.cut();
    }
  }

  #one(pass, item, index, groups) {
    pass.setPipeline(this.#pipelines[index].pipeline);
    pass.setBindGroup(0, groups[index]);
    pass.dispatchWorkgroups(...item.grid);
  }

  #nextGroups() {
    // The turn is the memory's: the time between two uses of a slice is as long as it can be, whichever plan uses it.
    const slice = this.#slices > 1 ? this.memory.turn++ % this.#slices : 0;
    if (!this.#groups.has(slice)) {
      this.#groups.set(slice, this.#job.dispatches.map((item, index) => this.#bind(item, index, slice)));
    }
    return this.#groups.get(slice);
  }

  #bind(item, index, slice) {
    const entries = item.bindings.map(([buffer, offset, size], binding) => ({
      binding,
      resource: { buffer: this.memory.buffers[buffer], offset: offset + slice * this.#strides[index][binding], size },
    }));
    return this.#device.createBindGroup({ layout: this.#pipelines[index].layout, entries });
  }
}

/** Commands on their way to the device, cut into submissions. */
class Recorder {
  #device;
  #open = null;
  #done = [];

  constructor(device) {
    this.#device = device;
  }

  get encoder() {
    return (this.#open ??= this.#device.createCommandEncoder());
  }

  /** What follows is submitted by itself. */
  cut() {
    if (this.#open) this.#done.push(this.#open.finish());
    this.#open = null;
  }

  submit() {
    this.cut();
    for (const commands of this.#done) this.#device.queue.submit([commands]);
    this.#done = [];
  }
}

function encodeRun(recorder, { load, times, leadIn }, [start, end]) {
  encodeCalls(recorder, load, leadIn);
  if (load.isPlain) {
    encodeCalls(recorder, load, times, { ...start, ...end });
    return;
  }
  // Only a pass can read the clock, and clearing a scratch stands outside of passes: so an empty one begins.
  recorder.encoder.beginComputePass({ timestampWrites: start }).end();
  for (let call = 1; call <= times; call++) load.encode(recorder, call === times ? end : null);
}

/** Encodes calls, those of a plain load in one pass, whose timestamp writes may be given. */
function encodeCalls(recorder, load, times, timestampWrites) {
  if (!load.isPlain) {
    for (let call = 0; call < times; call++) load.encode(recorder);
  } else if (times) {
    const pass = recorder.encoder.beginComputePass(timestampWrites ? { timestampWrites } : {});
    for (let call = 0; call < times; call++) load.dispatch(pass);
    pass.end();
  }
}

/** Where a run's beginning and end are written. */
function writes(querySet, index) {
  return [
    { querySet, beginningOfPassWriteIndex: 2 * index },
    { querySet, endOfPassWriteIndex: 2 * index + 1 },
  ];
}

/** The step in which the page's clock advances, in seconds: browsers make it coarse. */
function clockStep() {
  let step = Infinity;
  let seen = performance.now();
  for (let steps = 0; steps < STEPS_SEEN; ) {
    const now = performance.now();
    if (now === seen) continue;
    step = Math.min(step, now - seen);
    seen = now;
    steps += 1;
  }
  return step / 1000;
}

function gone() {
  throw new Refusal("engine-validation", "the page has no memory or plan of this number");
}
