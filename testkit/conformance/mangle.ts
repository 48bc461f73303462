import { writeSync } from "node:fs";

/**
 * Runs a program and prints what it prints, in a bad way: in pieces that are cut anywhere, with lines between its lines that are
 * no JSON or no event that anyone knows, and with one line of 10 MB. A line goes to the error output.
 */
const cmd = process.argv.slice(2);
const child = Bun.spawn({ cmd, stdio: ["inherit", "pipe", "inherit"] });

const odd = [
  "",
  "{",
  "null",
  "[]",
  "warning: something is old",
  '{"type":"kit.unknown","data":{"a":[1]}}',
  '{"jsonrpc":"2.0","method":"kit/unknown","params":{}}',
];
const huge = JSON.stringify({ type: "kit.huge", text: "x".repeat(10 * 1024 * 1024) });

console.error("an error output");
let lines = 0;
let rest = "";
const decoder = new TextDecoder();
for await (const chunk of child.stdout) {
  const all = (rest + decoder.decode(chunk, { stream: true })).split("\n");
  rest = all.pop() ?? "";
  for (const line of all) {
    write(`${odd[lines % odd.length]}\n`);
    if (lines === 1) write(`${huge}\n`);
    inPieces(`${line}\n`);
    lines += 1;
  }
}
write(rest);
process.exit(await child.exited);

/** Cut in the middle of letters too. */
function inPieces(text: string): void {
  const bytes = new TextEncoder().encode(text);
  const size = Math.max(7, Math.ceil(bytes.length / 9));
  for (let at = 0; at < bytes.length; at += size) write(bytes.subarray(at, at + size));
}

function write(part: string | Uint8Array): void {
  const bytes = typeof part === "string" ? new TextEncoder().encode(part) : part;
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
}
