/** The throwaway project of the demonstration: a small real program with tests that a person could have written. */
export const demoFiles: Readonly<Record<string, string>> = {
  "README.md": `# tally

Adds up what a household spends. Amounts are whole cents.

Run the tests with \`npm test\`.
`,
  "package.json": `{
  "name": "tally",
  "private": true,
  "type": "module",
  "scripts": {
    "test": "node --test test/*.test.js"
  }
}
`,
  ".gitignore": "node_modules/\n",
  "src/money.js": `/** Cents as people write them. */
export function format(cents) {
  return (cents / 100).toFixed(2);
}

/** What people write as cents. */
export function parse(text) {
  return Math.round(Number(text) * 100);
}
`,
  "src/ledger.js": `import { format } from "./money.js";

/** The sum of all entries, in cents. */
export function total(entries) {
  return entries.reduce((sum, entry) => sum + entry.cents, 0);
}

/** One line for the end of the month. */
export function report(entries) {
  return \`\${entries.length} entries, \${format(total(entries))}\`;
}
`,
  "test/money.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { format, parse } from "../src/money.js";

test("cents have two digits", () => {
  assert.equal(format(5), "0.05");
  assert.equal(format(12345), "123.45");
});

test("what was formatted can be read again", () => {
  assert.equal(parse(format(12345)), 12345);
});
`,
  "test/ledger.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { report, total } from "../src/ledger.js";

const entries = [{ cents: 250 }, { cents: 1750 }];

test("a total is the sum of its entries", () => {
  assert.equal(total(entries), 2000);
});

test("a report counts and adds up", () => {
  assert.equal(report(entries), "2 entries, 20.00");
});
`,
};

/** The commands that must pass on what lands. */
export const demoGate = "node --test test/*.test.js";
