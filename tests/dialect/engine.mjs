// Answers, line by line, what the loader's own template engine makes of texts.
//
// Input: JSON lines, each a batch {"folder", "context", "expressions": [...], "templates": [...]}; numbers that JSON
// cannot write are {"$float": "NaN"}. Output: one JSON line a batch, with an answer for every text: {"error": stage} or
// {"value": ..., "printed": ...} for an expression, {"text": ...} for a template.

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const { Template, Environment, Interpreter, tokenize, parse } = await import(
  pathToFileURL(join(process.argv[2], "dist", "index.js")).href
);

const FUNCTION = "\u0000function\u0000";
Function.prototype.toString = () => FUNCTION;

function decode(value) {
  if (Array.isArray(value)) return value.map(decode);
  if (value === null || typeof value !== "object") return value;
  if ("$float" in value) return Number(value.$float);
  if ("$undefined" in value) return undefined;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, decode(item)]));
}

function encode(value) {
  if (value === undefined) return { $undefined: true };
  switch (value.type) {
    case "UndefinedValue":
      return { $undefined: true };
    case "NullValue":
      return null;
    case "IntegerValue":
    case "FloatValue":
      return encodeNumber(value.value);
    case "StringValue":
      return value.value === undefined ? { $undefined: true } : value.value;
    case "BooleanValue":
      return value.value;
    case "ArrayValue":
    case "TupleValue":
      return value.value.map(encode);
    case "FunctionValue":
      return { $function: true };
    default:
      // An object as a list of its members: their order is to be seen.
      return { $members: Object.entries(Object.fromEntries(value.value)).map(([key, item]) => [key, encode(item)]) };
  }
}

function encodeNumber(number) {
  if (Number.isFinite(number) && !Object.is(number, -0)) return number;
  return { $float: Object.is(number, -0) ? "-0" : String(number) };
}

function environmentOf(context) {
  const environment = new Environment();
  const constants = { true: true, false: false, none: null, True: true, False: false, None: null };
  for (const [name, value] of Object.entries({ ...constants, ...context })) environment.set(name, value);
  return environment;
}

function attempt(work) {
  let stage = "syntax";
  try {
    return work(() => {
      stage = "value";
    });
  } catch (error) {
    return { error: stage, message: String(error?.message ?? error) };
  }
}

function expression(text, context) {
  return attempt((parsed) => {
    const program = parse(tokenize(`{{ ${text} }}`, { lstrip_blocks: true, trim_blocks: true }));
    parsed();
    const value = new Interpreter().evaluate(program.body[0], environmentOf(context));
    let printed;
    try {
      printed = new Template(`{{ ${text} }}`).render(context);
    } catch {
      printed = { error: "value" };
    }
    return { value: encode(value), printed };
  });
}

function template(text, context) {
  return attempt((parsed) => {
    const made = new Template(text);
    parsed();
    return { text: made.render(context) };
  });
}

for await (const line of createInterface({ input: process.stdin })) {
  const batch = JSON.parse(line);
  const context = decode(batch.context);
  const answers = {
    expressions: batch.expressions.map((text) => expression(text, context)),
    templates: batch.templates.map((text) => template(text, context)),
  };
  process.stdout.write(JSON.stringify(answers) + "\n");
}
