import { nearest } from "../name/nearest.ts";
import { type InvalidInput, invalid } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";

/** What a code base is explored for; each is a work stream of its own. */
export const discoveryCategories = ["architecture", "dependencies", "testing", "apis", "config", "implicit"] as const;
export type DiscoveryCategory = (typeof discoveryCategories)[number];

const briefs: Readonly<Record<DiscoveryCategory, string>> = {
  architecture:
    "How the code is divided: its parts, what each is responsible for, which way they depend on each other, where a " +
    "request or a command enters and how it travels, and where state lives.",
  dependencies:
    "What it is built on: libraries and services with the reason each is there, how versions are chosen and updated, " +
    "what is wrapped and what is used directly, and what could not be replaced easily.",
  testing:
    "How it is checked: kinds of tests and where they lie, how they are run, what they stand on (fixtures, fakes, " +
    "databases), what is well covered, and what nothing covers.",
  apis:
    "What it offers to others: commands, endpoints, exported functions, events and file formats, how errors are told, " +
    "what is promised to stay and how changes are versioned.",
  config:
    "How it is set up: settings and where they come from, variables, secrets, build and release, what differs between " +
    "environments, and what a newcomer must do before anything runs.",
  implicit:
    "What nobody wrote down: naming, the form of files and functions, how errors and logs are handled, habits of " +
    "history and review, and traps that only experience shows.",
};

/** The categories that are left when some are skipped. */
export function activeCategories(skipped: readonly string[]): Result<readonly DiscoveryCategory[], InvalidInput> {
  const isKnown = (name: string): boolean => discoveryCategories.some((known) => known === name);
  const stranger = skipped.find((name) => !isKnown(name));
  if (stranger !== undefined) {
    const near = nearest(stranger, discoveryCategories);
    const extra = { value: stranger, allowed: discoveryCategories, ...(near === undefined ? {} : { nearest: near }) };
    return no(invalid("skip", "is not a category", extra));
  }
  const left = discoveryCategories.filter((name) => !skipped.includes(name));
  return left.length === 0 ? no(invalid("skip", "leaves nothing to discover")) : ok(left);
}

export const discoveryObjective =
  "Get to know this code base and write down what an agent should know before it works in it.";

/** What the coordinator of a discovery is told beyond its objective. */
export function discoveryBrief(categories: readonly DiscoveryCategory[]): string {
  return [
    "Nothing is built here: only look and write down. For each category below make one task and sling one lead for it; " +
      "each lead sends one scout, checks what it found against the code, and reports its findings with the places that " +
      "show them. When all have reported, put their findings into one summary without repetitions and send it to the " +
      "operator as a result. The run has no checklist, because nothing lands that could prove one: add no criteria.",
    "",
    ...categories.map((name) => `- ${name}: ${briefs[name]}`),
  ].join("\n");
}
