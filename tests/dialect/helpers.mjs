// The helper functions of expressions once more, written with what JavaScript itself does to odd arguments.
//
// Input: JSON lines, each a list of calls [name, [argument, ...]]; what JSON cannot write is {"$float": "NaN"} or
// {"$undefined": true}. Output: a JSON line a batch, with {"value": ...} or {"error": message} for every call.

import { createInterface } from "node:readline";

const BYTES = new Map([
  ...["float32", "int8", "int16", "int32", "uint8", "uint32", "bool", "f32", "u32", "i32"].map((name) => [name, 4]),
  ...["float16", "f16"].map((name) => [name, 2]),
  ...["int64", "vec2<u32>"].map((name) => [name, 8]),
]);
const CODES = new Map(
  Object.entries({ float32: 1, uint8: 2, int8: 3, int16: 5, int32: 6, int64: 7, bool: 9, float16: 10, uint32: 12 }),
);

function refuse(what) {
  throw new Error(what);
}

const list = (value) => (Array.isArray(value) ? value : refuse("no list"));
const times = (list) => list.reduce((product, item) => product * item, 1);
const reduced = (axis, rank) => ((axis % rank) + +rank) % rank;
const isCount = (value) => Number.isInteger(value) && value >= 0 && value <= 2 ** 20;
const found = (table, key) => table.get(key) ?? refuse("unknown dtype");

function place(axis, rank) {
  if (!Number.isInteger(axis) || axis < -rank || axis >= rank) refuse("no axis of this shape");
  return axis < 0 ? axis + rank : axis;
}

function broadcast(a, b) {
  const shape = [];
  for (let back = 1; back <= Math.max(a.length, b.length); back++) {
    const [x, y] = [a, b].map((dims) => (back <= dims.length ? dims[dims.length - back] : 1));
    if (x !== y && x !== 1 && y !== 1) refuse("incompatible");
    shape.unshift(x === 1 ? y : x);
  }
  return shape;
}

function matmul(a, b) {
  if (!a.length || !b.length) refuse("rank 0");
  const left = a.length === 1 ? [1, ...a] : a;
  const right = b.length === 1 ? [...b, 1] : b;
  if (left.at(-1) !== right.at(-2)) refuse("inner dimensions");
  const rows = a.length === 1 ? [] : [left.at(-2)];
  const columns = b.length === 1 ? [] : [right.at(-1)];
  return [...broadcast(left.slice(0, -2), right.slice(0, -2)), ...rows, ...columns];
}

function isUniqueIntList(items, low, high, modulus = 0) {
  if (!Array.isArray(items) || ![low, high, modulus].every(Number.isInteger) || modulus < 0) return false;
  if (!items.every((item) => Number.isInteger(item) && low <= item && item < high)) return false;
  return new Set(items.map((item) => (modulus ? reduced(item, modulus) : item))).size === items.length;
}

function pick(pairs, fallback) {
  for (const pair of list(pairs)) {
    if (!Array.isArray(pair) || pair.length < 2) refuse("no pair");
    if (pair[0]) return pair[1];
  }
  return fallback;
}

function moveAxis(shape, from, to) {
  const dims = list(shape).slice();
  const [source, target] = [place(from, dims.length), place(to, dims.length)];
  const [moved] = dims.splice(source, 1);
  dims.splice(target, 0, moved);
  return dims;
}

function permuteShape(shape, axes) {
  const rank = list(shape).length;
  const places = list(axes).map((axis) => place(axis, rank));
  if (places.length !== rank || new Set(places).size !== rank) refuse("no permutation");
  return places.map((from) => shape[from]);
}

function position(axes, axis, rank) {
  return list(axes).findIndex((item) => reduced(item, rank) === reduced(axis, rank));
}

function axisValue(values, axes, axis, rank, fallback) {
  const [items, index] = [list(values), position(axes, axis, rank)];
  return index < 0 || index >= items.length ? fallback : items[index];
}

function broadcastable(a, b) {
  const offset = list(b).length - list(a).length;
  return offset >= 0 && a.every((dim, index) => dim === 1 || dim === b[offset + index]);
}

function log2ceil(x) {
  return x <= 1 ? 0 : Math.ceil(Math.log2(x));
}

const HELPERS = {
  ceil: (x) => Math.ceil(x),
  floor: (x) => Math.floor(x),
  pow: (a, b) => Math.pow(a, b),
  min: Math.min,
  max: Math.max,
  ceilDiv: (a, b) => Math.ceil(a / b),
  log2ceil,
  pow2ceil: (x) => (x <= 1 ? 1 : 2 ** log2ceil(x)),
  numel: (dims) => times(list(dims)),
  dim: (dims, axis) => (dims == null ? refuse("no list") : dims[reduced(axis, dims.length)]),
  rows: (dims, axis) => times(list(dims).filter((_, index) => index !== reduced(axis, dims.length))),
  outer: (dims, axis) => times(list(dims).slice(0, reduced(axis, dims.length))),
  inner: (dims, axis) => times(list(dims).slice(reduced(axis, dims.length) + 1)),
  prefix: (items, n) => list(items).slice(0, Math.max(n, 0)),
  suffix: (items, n) => list(items).slice(Math.max(n, 0)),
  fill: (value, count) => (isCount(count) ? new Array(count).fill(value) : refuse("no count")),
  moveAxis,
  permuteShape,
  reversedAxes: (rank) => (isCount(rank) ? [...new Array(rank).keys()].reverse() : refuse("no rank")),
  broadcastShape: (a, b) => broadcast(list(a), list(b)),
  matmulShape: (a, b) => matmul(list(a), list(b)),
  broadcastable,
  sameShape: (a, b) => list(a).length === list(b).length && a.every((dim, index) => dim === b[index]),
  hasAxis: (axes, axis, rank) => position(axes, axis, rank) >= 0,
  axisValue,
  isUniqueIntList,
  has: (holder, key) => holder != null && Object.hasOwn(holder, key),
  dtypeBytes: (dtype) => found(BYTES, dtype),
  onnxDtypeCode: (dtype) => found(CODES, dtype),
  pick,
};

function decode(value) {
  if (Array.isArray(value)) return value.map(decode);
  if (value === null || typeof value !== "object") return value;
  if ("$float" in value) return Number(value.$float);
  if ("$undefined" in value) return undefined;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, decode(item)]));
}

function encode(value) {
  if (value === undefined) return { $undefined: true };
  if (Array.isArray(value)) return value.map(encode);
  if (typeof value === "number" && (!Number.isFinite(value) || Object.is(value, -0))) {
    return { $float: Object.is(value, -0) ? "-0" : String(value) };
  }
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, encode(item)]));
}

function answer([name, args]) {
  try {
    return { value: encode(HELPERS[name](...args.map((arg) => decode(arg) ?? undefined)) ?? null) };
  } catch (error) {
    return { error: String(error?.message ?? error) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(JSON.parse(line).map(answer)) + "\n");
}
