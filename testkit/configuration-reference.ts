import { variableFor } from "../src/config/environment.ts";
import { type KnownKey, knownKeys } from "../src/config/keys.ts";
import { describe } from "../src/config/schema/key.ts";
import { unusedKeys } from "../src/config/unused-keys.ts";

/** The page `docs/configuration.md`: every key there is. The same table of keys always gives the same text. */
export function renderConfigDocs(): string {
  const sections = [...new Set(knownKeys.map(({ parts }) => parts[0] ?? ""))];
  const pages = sections.map((section) =>
    [
      `## ${section}`,
      "",
      "| Key | Takes | Default | Meaning |",
      "| --- | --- | --- | --- |",
      ...knownKeys.filter(({ parts }) => parts[0] === section).map(row),
    ].join("\n"),
  );
  return `${[...opening, ...pages, unused].join("\n\n")}\n`;
}

const unused = [
  "## Keys without effect",
  "",
  "Files of earlier versions may have these keys. They are accepted and ignored; `ov config validate` names each.",
  "",
  "| Key | Why |",
  "| --- | --- |",
  ...Object.entries(unusedKeys).map(([key, part]) => `| \`${key}\` | no effect yet: it waits for ${part} |`),
].join("\n");

const example = variableFor(["agents", "maxDepth"]);

const opening = [
  "# Configuration",
  "This page is generated from the table of keys; change the table, not the page.",
  `Values come from \`.overstory/config.yaml\` (shared), then \`.overstory/config.local.yaml\` (this machine), then the environment: \`agents.maxDepth\` is \`${example}\` there. \`ov config explain <key>\` says what a key is now and who said so. A running engine takes changed values as soon as the gates it began have ended. A \`*\` stands for a name you choose.`,
];

function row({ pattern, spec }: KnownKey): string {
  const cells = [`\`${pattern}\``, describe(spec), defaultOf(spec), spec.doc];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("<", "&lt;")).join(" | ")} |`;
}

function defaultOf({ default: value, defaultIs, entries }: KnownKey["spec"]): string {
  if (defaultIs !== undefined) return defaultIs;
  const named = Object.entries(entries ?? {}).map(([name, each]) => `${name}: \`${JSON.stringify(each)}\``);
  if (named.length > 0) return named.join(", ");
  return value === undefined ? "not set" : `\`${JSON.stringify(value)}\``;
}
