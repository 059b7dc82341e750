// The adapter and the device: what they tell of themselves, and what is found out by trying.

import { pause } from "./link.js";

const TRIES = 6;

const EXCHANGE = `
@group(0) @binding(0) var<storage, read_write> cell: atomic<u32>;
@compute @workgroup_size(1) fn main() {
  let seen = atomicCompareExchangeWeak(&cell, 0u, 1u);
  if (seen.exchanged) { atomicStore(&cell, seen.old_value + 2u); }
}`;

const PLAIN_ATOMICS = `
@group(0) @binding(0) var<storage, read_write> cell: atomic<u32>;
@compute @workgroup_size(1) fn main() { atomicStore(&cell, atomicLoad(&cell) + 2u); }`;

const SUBGROUP_SIZE = `enable subgroups;
@group(0) @binding(0) var<storage, read_write> seen: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(subgroup_size) size: u32) { seen[0] = size; }`;

/** Why this browser cannot take part, in words for its user; "" if it seems that it can. */
export function lacking() {
  if (!window.isSecureContext) {
    return (
      "Browsers offer WebGPU only to pages that came over https, or from the device itself (localhost). This page came " +
      "over plain http.\nStart scanbuild with --host, and it speaks https."
    );
  }
  if (!navigator.gpu) {
    return (
      "This browser has no WebGPU, or it is switched off. Current versions of Chrome, Edge, Firefox and Safari have " +
      "it on most devices; on others it can be switched on in the browser's settings for experiments."
    );
  }
  return "";
}

/** The adapter that the loader would take; null if the browser gives none. After a crash it may take a moment. */
export async function findAdapter(tries = 1) {
  for (let attempt = 1; ; attempt++) {
    const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
    if (adapter || attempt >= tries) return adapter;
    await pause(400 * attempt);
  }
}

/** What the adapter offers, as plain JSON. */
export function describeAdapter(adapter) {
  const { info } = adapter;
  const known = {};
  for (const name of ["vendor", "architecture", "device", "description", "isFallbackAdapter"]) known[name] = info[name];
  for (const name of ["subgroupMinSize", "subgroupMaxSize"]) if (info[name] !== undefined) known[name] = info[name];
  known.isFallbackAdapter ??= adapter.isFallbackAdapter === true;
  if (info.subgroupMatrixConfigs) {
    known.subgroupMatrixConfigs = [...info.subgroupMatrixConfigs].map(
      ({ componentType, resultComponentType, M, N, K }) => ({ componentType, resultComponentType, M, N, K }),
    );
  }
  return { info: known, features: [...adapter.features].sort(), limits: readLimits(adapter.limits) };
}

/** A device with these features and limits, from a fresh adapter: one that gave a device gives no second. */
export async function openDevice({ features, limits }) {
  const adapter = await findAdapter(TRIES);
  if (!adapter) throw new Error("the browser offers no adapter any more");
  return adapter.requestDevice({ requiredFeatures: features, requiredLimits: limits });
}

/** What planning must know of a device. */
export async function describeDevice(device) {
  const failures = [];
  if (!(await builds(device, EXCHANGE)) && (await builds(device, PLAIN_ATOMICS))) {
    failures.push("atomicCompareExchangeWeak");
  }
  return {
    features: [...device.features].sort(),
    limits: readLimits(device.limits),
    compileFailures: failures,
    subgroupSize: device.features.has("subgroups") ? await measureSubgroups(device) : null,
  };
}

function readLimits(limits) {
  // The limits are getters of the prototype.
  const values = {};
  for (const name in limits) if (typeof limits[name] === "number") values[name] = limits[name];
  return values;
}

async function builds(device, code) {
  device.pushErrorScope("validation");
  device.pushErrorScope("internal");
  try {
    await device.createComputePipelineAsync({
      layout: "auto",
      compute: { module: device.createShaderModule({ code }), entryPoint: "main" },
    });
    return true;
  } catch {
    return false;
  } finally {
    await Promise.all([device.popErrorScope(), device.popErrorScope()]);
  }
}

/** The subgroup size that a shader sees, or null. */
async function measureSubgroups(device) {
  if (!(await builds(device, SUBGROUP_SIZE))) return null;
  const module = device.createShaderModule({ code: SUBGROUP_SIZE });
  const pipeline = device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "main" } });
  const word = device.createBuffer({ size: 4, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC });
  const copy = device.createBuffer({ size: 4, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const group = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: [{ binding: 0, resource: { buffer: word } }],
  });
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, group);
  pass.dispatchWorkgroups(1);
  pass.end();
  encoder.copyBufferToBuffer(word, 0, copy, 0, 4);
  device.queue.submit([encoder.finish()]);
  try {
    await copy.mapAsync(GPUMapMode.READ);
    return new Uint32Array(copy.getMappedRange())[0];
  } catch {
    return null;
  } finally {
    word.destroy();
    copy.destroy();
  }
}
