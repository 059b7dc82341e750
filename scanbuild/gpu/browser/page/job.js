// Running a job: buffers with what they start with, dispatches that bind parts of them, parts to read back.

const PIPELINES_KEPT = 256;
const FILL_BYTES = 1 << 22;
const TYPES = { read: "read-only-storage", read_write: "storage", uniform: "uniform" };

/** What the browser refused: `rule` is one that the server knows, `dispatch` the index of the one it is about. */
export class Refusal extends Error {
  constructor(rule, message, dispatch = null) {
    super(message);
    this.rule = rule;
    this.dispatch = dispatch;
  }
}

export class Runner {
  #device;
  #pipelines = new Map();

  constructor(device) {
    this.#device = device;
  }

  /** The bytes of every read, and the seconds from the first submission until they are there. */
  async run(job, contents) {
    const pipelines = await this.pipelinesOf(job);
    const own = [];
    try {
      const buffers = await this.guarded("out-of-memory", () => job.buffers.map((item) => this.#buffer(item, own)));
      const staging = await this.guarded("out-of-memory", () => this.#staging(job, own));
      const groups = await this.guarded("engine-validation", () => {
        this.#start(job, buffers, contents);
        return job.dispatches.map((item, index) => this.#bind(item, pipelines[index].layout, buffers));
      });
      const begin = performance.now();
      await this.guarded("engine-validation", () => this.#submit(job, pipelines, groups, buffers, staging));
      await staging.mapAsync(GPUMapMode.READ);
      const seconds = (performance.now() - begin) / 1000;
      return { seconds, data: parts(job, staging.getMappedRange()) };
    } finally {
      for (const buffer of own) buffer.destroy();
    }
  }

  /** Compiles a text with the entry point `main`; a Refusal if it is no WGSL, or none that the device can run. */
  async compile(wgsl) {
    const module = await this.#module(wgsl, "", 0);
    await this.#build(module, "auto", "", 0, "pipeline-limits");
  }

  /** The buffers of a job, with what they start with. Where the device refuses one, none is left. */
  async allocate(job, contents) {
    const own = [];
    try {
      const buffers = await this.guarded("out-of-memory", () => job.buffers.map((item) => this.#buffer(item, own)));
      await this.guarded("engine-validation", () => this.#start(job, buffers, contents));
      return buffers;
    } catch (error) {
      for (const buffer of own) buffer.destroy();
      throw error;
    }
  }

  /** Pipeline and layout of every dispatch; a Refusal that names the first that has none. */
  async pipelinesOf(job) {
    const made = await Promise.allSettled(job.dispatches.map((item, index) => this.#pipeline(job, item, index)));
    const failed = made.find((one) => one.status === "rejected");
    if (failed) throw failed.reason;
    return made.map((one) => one.value);
  }

  /** Pipeline and layout of a dispatch; equal texts with equal binding types share them. */
  #pipeline(job, item, index) {
    const types = item.bindings.map(([, , , access]) => TYPES[access]);
    const key = JSON.stringify([types, job.shaders[item.shader]]);
    let found = this.#pipelines.get(key);
    if (!found) {
      found = this.#make(job.shaders[item.shader], types, item.label, index);
      found.catch(() => this.#pipelines.delete(key));
    }
    // Put last again, so that the first is the one that was not used for longest.
    this.#pipelines.delete(key);
    this.#pipelines.set(key, found);
    if (this.#pipelines.size > PIPELINES_KEPT) this.#pipelines.delete(this.#pipelines.keys().next().value);
    return found;
  }

  async #make(wgsl, types, label, index) {
    const module = await this.#module(wgsl, label, index);
    const entries = types.map((type, binding) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type } }));
    const layout = await this.guarded("engine-validation", () => this.#device.createBindGroupLayout({ entries }));
    const whole = this.#device.createPipelineLayout({ bindGroupLayouts: [layout] });
    return { layout, pipeline: await this.#build(module, whole, label, index, "shader-compilation") };
  }

  async #module(code, label, index) {
    this.#device.pushErrorScope("validation");
    const module = this.#device.createShaderModule({ code, label });
    const [refused, told] = await Promise.all([this.#device.popErrorScope(), module.getCompilationInfo()]);
    const errors = told.messages.filter((item) => item.type === "error");
    if (errors.length || refused) {
      const words = errors.map((item) => `:${item.lineNum}:${item.linePos} error: ${item.message}`);
      throw new Refusal("shader-compilation", words.join("\n") || refused.message, index);
    }
    return module;
  }

  async #build(module, layout, label, index, rule) {
    try {
      const compute = { module, entryPoint: "main" };
      return await this.#device.createComputePipelineAsync({ layout, label, compute });
    } catch (error) {
      throw new Refusal(error.reason === "internal" ? "engine-validation" : rule, error.message, index);
    }
  }

  #buffer(item, own) {
    const use = item.uniform ? GPUBufferUsage.UNIFORM : GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC;
    const buffer = this.#device.createBuffer({ size: item.size, usage: use | GPUBufferUsage.COPY_DST, label: item.name });
    own.push(buffer);
    return buffer;
  }

  /** The one buffer that everything is read back through: waiting for it is waiting for the dispatches, too. */
  #staging(job, own) {
    const size = Math.max(4, job.reads.reduce((sum, [, , length]) => sum + length, 0));
    const buffer = this.#device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
    own.push(buffer);
    return buffer;
  }

  /** Gives the buffers what they start with: first the fills, then the writes. */
  #start(job, buffers, contents) {
    const { queue } = this.#device;
    job.buffers.forEach((item, index) => {
      for (const [offset, size, word] of item.fills) {
        const block = new Uint32Array(Math.min(size, FILL_BYTES) / 4).fill(word);
        for (let start = 0; start < size; start += FILL_BYTES) {
          queue.writeBuffer(buffers[index], offset + start, block, 0, Math.min(size - start, FILL_BYTES) / 4);
        }
      }
      for (const [offset, content] of item.writes) queue.writeBuffer(buffers[index], offset, contents[content]);
    });
  }

  #bind(item, layout, buffers) {
    const entries = item.bindings.map(([buffer, offset, size], binding) => ({
      binding,
      resource: { buffer: buffers[buffer], offset, size },
    }));
    return this.#device.createBindGroup({ layout, entries });
  }

  #submit(job, pipelines, groups, buffers, staging) {
    const { queue } = this.#device;
    let encoder = this.#device.createCommandEncoder();
    let pass = encoder.beginComputePass();
    job.dispatches.forEach((item, index) => {
      pass.setPipeline(pipelines[index].pipeline);
      pass.setBindGroup(0, groups[index]);
      pass.dispatchWorkgroups(...item.grid);
      if (item.submitAfter && index < job.dispatches.length - 1) {
        pass.end();
        queue.submit([encoder.finish()]);
        encoder = this.#device.createCommandEncoder();
        pass = encoder.beginComputePass();
      }
    });
    pass.end();
    let end = 0;
    for (const [buffer, offset, size] of job.reads) {
      encoder.copyBufferToBuffer(buffers[buffer], offset, staging, end, size);
      end += size;
    }
    queue.submit([encoder.finish()]);
  }

  /** What the action returns; a Refusal if the device refuses something meanwhile. */
  async guarded(rule, action) {
    for (const filter of ["internal", "validation", "out-of-memory"]) this.#device.pushErrorScope(filter);
    let made, thrown;
    try {
      made = action();
    } catch (error) {
      thrown = error;
    }
    const [memory, validation, internal] = await Promise.all([
      this.#device.popErrorScope(),
      this.#device.popErrorScope(),
      this.#device.popErrorScope(),
    ]);
    if (memory) throw new Refusal("out-of-memory", memory.message || "the device is out of memory");
    if (validation || internal) throw new Refusal("engine-validation", (validation ?? internal).message);
    if (thrown) throw new Refusal(thrown instanceof RangeError ? "out-of-memory" : rule, String(thrown.message));
    return made;
  }
}

/** Copies of what was read, one after another in the mapped range. */
function parts(job, mapped) {
  let end = 0;
  return job.reads.map(([, , size]) => new Uint8Array(mapped.slice(end, (end += size))));
}
