import { no, ok, type Result } from "../../result.ts";
import type { NamedGate, ProjectTerms } from "../assignment.ts";
import { bullets, code, codes, numbered, shell } from "./markdown.ts";

/** What a role text may leave to be filled in, written as `{{NAME}}`. */
export const placeholders = [
  "TRACKER_CLI",
  "TRACKER_NAME",
  "INSTRUCTION_PATH",
  "QUALITY_GATE_INLINE",
  "QUALITY_GATE_STEPS",
  "QUALITY_GATE_BASH",
  "QUALITY_GATE_CAPABILITIES",
] as const;
export type Placeholder = (typeof placeholders)[number];

/**
 * Fills a text in one pass; inserted text is never filled again. The refusal lists unknown names, because none of them
 * may reach a model.
 */
export function fill(text: string, terms: ProjectTerms): Result<string, readonly string[]> {
  const unknown = placeholdersIn(text).filter((name) => !isKnown(name));
  if (unknown.length > 0) return no(unknown);
  return ok(text.replace(pattern, (whole, name: string) => (isKnown(name) ? textFor(name, terms) : whole)));
}

/** The names of all placeholders in a text, each once. */
export const placeholdersIn = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(pattern)].map(([, name = ""]) => name)),
];

const pattern = /\{\{\s*([A-Za-z][A-Za-z0-9_]*)\s*\}\}/g;

const isKnown = (name: string): name is Placeholder => placeholders.some((known) => known === name);

function textFor(name: Placeholder, { gates, instructionFile }: ProjectTerms): string {
  switch (name) {
    case "TRACKER_CLI":
    case "TRACKER_NAME":
      return "ov task";
    case "INSTRUCTION_PATH":
      return instructionFile;
    case "QUALITY_GATE_INLINE":
      return gates.length === 0 ? none : codes(gates.map(({ command }) => command));
    case "QUALITY_GATE_STEPS":
      return gates.length === 0 ? none : numbered(gates.map((gate) => `Run ${described(gate)}`));
    case "QUALITY_GATE_BASH":
      return gates.length === 0 ? none : shell(gates.map(({ command, name: title }) => `${command}  # ${title}`));
    case "QUALITY_GATE_CAPABILITIES":
      return gates.length === 0 ? none : bullets(gates.map(described));
  }
}

const none = "no quality gate is configured";

/** A gate in one line. */
export const described = ({ name, command, description }: NamedGate): string =>
  `${code(command)} (${description === undefined || description === "" ? name : `${name}: ${description}`})`;
