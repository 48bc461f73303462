import { exactShellWord } from "../../domain/text/shell-word.ts";
import type { DemoRequest } from "../../ports/demo-stage.ts";

export interface DemoPlan {
  readonly features: readonly Feature[];
  /** The builder whose program is killed once. */
  readonly victim: string;
  /** The lead that sends a scout first. */
  readonly scoutedBy: string;
}

export function planOf({ agents, seed }: Pick<DemoRequest, "agents" | "seed">): DemoPlan {
  const more = Math.max(0, agents - features.length);
  const all = [...features, ...Array.from({ length: more }, (_, at) => moreFeature(at + 1))];
  const victim = all[Math.abs(seed) % all.length]?.builder ?? "ben";
  return { features: all, victim, scoutedBy: seed % 2 === 0 ? "lead-ledger" : "lead-output" };
}

/** The steps of each scripted agent. JSON is valid YAML. */
export function scenarioOf(plan: DemoPlan, partsDir: string): string {
  const part = (name: string, ...words: string[]): object => ({
    shell: ["node", exactShellWord(`${partsDir}/${name}.mjs`), ...words].join(" "),
  });
  return JSON.stringify([
    { when: { capability: "coordinator" }, do: [{ think: "What is left to do?" }, part("coordinator")] },
    { when: { capability: "lead" }, do: [{ think: "Who has finished, and what comes next?" }, part("lead")] },
    {
      when: { capability: "scout" },
      do: [
        { tool: { name: "Grep", input: { pattern: "export function" }, output: "src/ledger.js, src/money.js" } },
        { ov: ["done", "--summary", "new functions go to the end of src/ledger.js; money.js formats"] },
      ],
    },
    {
      when: { agent: plan.victim, attempt: 1 },
      do: [
        { say: "I will start." },
        { edit: { file: "half-written.js", write: "export const half =" } },
        { kill: "SIGKILL" },
      ],
    },
    {
      when: { capability: "builder" },
      do: [
        { shell: "rm -f half-written.js" },
        part("builder", "$(git merge-base HEAD main)"),
        { ov: ["done", "--summary", "$${task} works and is tested".replace("$$", "$")] },
      ],
    },
    { when: { capability: "reviewer" }, do: [part("reviewer")] },
  ]);
}

/** One change of a feature: whole files, and lines to append to others. */
interface Change {
  readonly write?: Readonly<Record<string, string>>;
  readonly append?: Readonly<Record<string, string>>;
  /** Exact text in a file and what takes its place. */
  readonly replace?: readonly { readonly file: string; readonly from: string; readonly to: string }[];
  readonly commit: string;
}

/** A task of the demonstration, with the two ways its builder may go about it. */
interface Feature {
  readonly builder: string;
  readonly task: string;
  readonly title: string;
  readonly lead: string;
  readonly files: readonly string[];
  readonly reviewed: boolean;
  /** What the builder does first. */
  readonly first: Change;
  /** Its change after its work was sent back. */
  readonly second: Change;
}

const testOf = (imports: string, body: string): string =>
  `import assert from "node:assert/strict";\nimport { test } from "node:test";\n${imports}\n\n${body}`;

/**
 * Two features meet at the end of one file, where lines conflict and structure does not; one is sent back by its
 * review; two agree with the tests each for itself and not together.
 */
const features: readonly Feature[] = [
  {
    builder: "ada",
    task: "average",
    title: "Average entry",
    lead: "lead-ledger",
    files: ["src/ledger.js", "test/average.test.js"],
    reviewed: true,
    first: {
      append: {
        "src/ledger.js": `
/** What an entry costs on average, in cents. */
export function average(entries) {
  return Math.round(total(entries) / entries.length);
}
`,
      },
      write: {
        "test/average.test.js": testOf(
          'import { average } from "../src/ledger.js";',
          'test("an average lies in the middle", () => {\n  assert.equal(average([{ cents: 100 }, { cents: 201 }]), 151);\n});\n',
        ),
      },
      commit: "Add the average entry",
    },
    second: {
      replace: [
        {
          file: "src/ledger.js",
          from: "  return Math.round(total(entries) / entries.length);",
          to: "  return entries.length === 0 ? 0 : Math.round(total(entries) / entries.length);",
        },
      ],
      append: {
        "test/average.test.js":
          '\ntest("nothing costs nothing on average", () => {\n  assert.equal(average([]), 0);\n});\n',
      },
      commit: "Give an empty list an average",
    },
  },
  {
    builder: "ben",
    task: "largest",
    title: "Largest entry",
    lead: "lead-ledger",
    files: ["src/ledger.js", "test/largest.test.js"],
    reviewed: false,
    first: {
      append: {
        "src/ledger.js": `
/** The most expensive entry, or undefined when there is none. */
export function largest(entries) {
  return entries.toSorted((a, b) => b.cents - a.cents)[0];
}
`,
      },
      write: {
        "test/largest.test.js": testOf(
          'import { largest } from "../src/ledger.js";',
          'test("the largest entry is the most expensive one", () => {\n  assert.equal(largest([{ cents: 1 }, { cents: 3 }, { cents: 2 }])?.cents, 3);\n  assert.equal(largest([]), undefined);\n});\n',
        ),
      },
      commit: "Add the largest entry",
    },
    second: { commit: "Look at it again" },
  },
  {
    builder: "cleo",
    task: "thousands",
    title: "Thousands separator",
    lead: "lead-output",
    files: ["src/money.js", "test/thousands.test.js"],
    reviewed: false,
    first: {
      replace: [
        {
          file: "src/money.js",
          from: "  return (cents / 100).toFixed(2);",
          to: '  return (cents / 100).toFixed(2).replace(/\\B(?=(\\d{3})+\\.)/g, ",");',
        },
        { file: "src/money.js", from: "Number(text)", to: 'Number(text.replaceAll(",", ""))' },
      ],
      write: {
        "test/thousands.test.js": testOf(
          'import { format, parse } from "../src/money.js";',
          'test("thousands are set apart and read again", () => {\n  assert.equal(format(123456789), "1,234,567.89");\n  assert.equal(parse("1,234.50"), 123450);\n});\n',
        ),
      },
      commit: "Set thousands apart",
    },
    second: {
      write: {
        "src/money.js": `/** Cents as people write them. */
export function format(cents) {
  return (cents / 100).toFixed(2);
}

/** The same with thousands set apart, for people only. */
export function pretty(cents) {
  return format(cents).replace(/\\B(?=(\\d{3})+\\.)/g, ",");
}

/** What people write as cents. */
export function parse(text) {
  return Math.round(Number(text.replaceAll(",", "")) * 100);
}
`,
        "test/thousands.test.js": testOf(
          'import { parse, pretty } from "../src/money.js";',
          'test("thousands are set apart and read again", () => {\n  assert.equal(pretty(123456789), "1,234,567.89");\n  assert.equal(parse("1,234.50"), 123450);\n});\n',
        ),
      },
      commit: "Leave the format that files use alone",
    },
  },
  {
    builder: "dan",
    task: "export",
    title: "Export as CSV",
    lead: "lead-output",
    files: ["src/csv.js", "test/csv.test.js"],
    reviewed: false,
    first: {
      write: {
        "src/csv.js": `import { format } from "./money.js";

/** One line per entry: what it was for, and what it cost. */
export function toCsv(entries) {
  return entries.map(({ name, cents }) => \`\${name},\${format(cents)}\`).join("\\n");
}
`,
        "test/csv.test.js": testOf(
          'import { toCsv } from "../src/csv.js";',
          'test("a line has two columns, however large the amount", () => {\n  assert.equal(toCsv([{ name: "rent", cents: 123456 }]), "rent,1234.56");\n});\n',
        ),
      },
      commit: "Export entries as CSV",
    },
    second: {
      replace: [
        { file: "src/csv.js", from: 'import { format } from "./money.js";\n\n', to: "" },
        { file: "src/csv.js", from: "format(cents)", to: "(cents / 100).toFixed(2)" },
      ],
      commit: "Write amounts in files without separators",
    },
  },
];

/** A feature that touches no other feature, for demonstrations with more builders. */
function moreFeature(number: number): Feature {
  const lead = number % 2 === 0 ? "lead-ledger" : "lead-output";
  return {
    builder: `extra-${number}`,
    task: `rate-${number}`,
    title: `Exchange rate ${number}`,
    lead,
    files: [`src/rate-${number}.js`, `test/rate-${number}.test.js`],
    reviewed: false,
    first: {
      write: {
        [`src/rate-${number}.js`]: `/** Cents in another currency. */\nexport const convert = (cents) => Math.round(cents * 1.${number});\n`,
        [`test/rate-${number}.test.js`]: testOf(
          `import { convert } from "../src/rate-${number}.js";`,
          `test("a rate applies to every cent", () => {\n  assert.equal(convert(0), 0);\n});\n`,
        ),
      },
      commit: `Add exchange rate ${number}`,
    },
    second: { commit: "Look at it again" },
  };
}
