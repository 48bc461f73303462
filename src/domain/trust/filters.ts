import { shellWord } from "../text/shell-word.ts";

/** A clean/smudge filter as git's configuration defines it. Null: that key is not set. */
export interface FilterDefinition {
  readonly clean: string | null;
  readonly smudge: string | null;
  readonly process: string | null;
  readonly required: string | null;
}

export const filterKeys = ["clean", "smudge", "process", "required"] as const;
type FilterKey = (typeof filterKeys)[number];

/** One `filter.<name>.<key>` of git's configuration, in git's order. */
export interface FilterSetting {
  readonly name: string;
  readonly key: string;
  readonly value: string;
  /** From the user's or the system's own files. False: from a file that belongs to the repository. */
  readonly isUsers: boolean;
}

/** What the operator confirmed, by the name of the filter. Null: the repository is used without that filter. */
export type FilterPins = Readonly<Record<string, FilterDefinition | null>>;

/**
 * user         defined outside the repository, and the repository does not change it
 * confirmed    defined by the repository exactly as the operator confirmed it
 * without      defined nowhere, and the operator confirmed that
 * unconfirmed  defined by the repository, never confirmed
 * changed      confirmed once, defined otherwise now
 * missing      defined nowhere
 */
export type FilterStanding = "user" | "confirmed" | "without" | "unconfirmed" | "changed" | "missing";

export interface Filter {
  readonly name: string;
  readonly standing: FilterStanding;
  /** As git itself would use it now; null where it is defined nowhere. */
  readonly definition: FilterDefinition | null;
}

/** Decides about every filter that is defined, and about those that are only named by attributes. */
export function judgeFilters(
  settings: readonly FilterSetting[],
  pins: FilterPins,
  named: readonly string[],
): readonly Filter[] {
  const names = [...new Set([...settings.map(({ name }) => name), ...named])].toSorted();
  return names.map((name) => {
    const own = settings.filter((setting) => setting.name === name);
    const definition = definitionIn(own);
    const users = definitionIn(own.filter(({ isUsers }) => isUsers));
    return { name, definition, standing: standingOf(definition, users, pins[name]) };
  });
}

function standingOf(
  now: FilterDefinition | null,
  users: FilterDefinition | null,
  pin: FilterDefinition | null | undefined,
): FilterStanding {
  if (now === null) return pin === null ? "without" : "missing";
  if (isSameFilter(now, users)) return "user";
  if (pin === undefined) return "unconfirmed";
  return isSameFilter(now, pin) ? "confirmed" : "changed";
}

/** The last value of each key counts, as in git. */
function definitionIn(settings: readonly FilterSetting[]): FilterDefinition | null {
  const last = (key: FilterKey): string | null => settings.findLast((setting) => setting.key === key)?.value ?? null;
  const [clean, smudge, process, required] = filterKeys.map(last);
  const found = { clean: clean ?? null, smudge: smudge ?? null, process: process ?? null, required: required ?? null };
  return Object.values(found).every((value) => value === null) ? null : found;
}

const isSameFilter = (one: FilterDefinition, other: FilterDefinition | null): boolean =>
  other !== null && filterKeys.every((key) => one[key] === other[key]);

/** Only these are ever run by us. */
export const isHonoured = ({ standing }: Filter): boolean => standing === "user" || standing === "confirmed";

/**
 * What keeps a repository from being used: a filter its files need that we may not or cannot run, or attributes outside
 * the tracked files that the operator did not confirm.
 */
export interface FilterProblem {
  readonly name: string;
  readonly problem: "missing" | "unconfirmed" | "changed" | "no-program" | "other-attributes";
  /** The command, where there is one; the files to look at, for attributes. */
  readonly command: string | null;
}

/**
 * Which of the filters that the repository's own attributes name cannot be used, and which of those that only the user's
 * or the system's attributes name the repository defines without having been confirmed.
 */
export function filterProblems(
  filters: readonly Filter[],
  { byRepository, byUser }: { readonly byRepository: readonly string[]; readonly byUser: readonly string[] },
): readonly FilterProblem[] {
  return filters.flatMap(({ name, standing, definition }) => {
    if (standing !== "missing" && standing !== "unconfirmed" && standing !== "changed") return [];
    const isNeeded = byRepository.includes(name) || (standing !== "missing" && byUser.includes(name));
    return isNeeded
      ? [{ name, problem: standing, command: definition === null ? null : commandsOf(definition).join("; ") }]
      : [];
  });
}

/** All commands of a filter: a person who confirms it confirms each of them. */
const commandsOf = ({ process, smudge, clean }: FilterDefinition): readonly string[] =>
  [process, smudge, clean].filter((command): command is string => command !== null && command !== "");

/** The command by which the program of a filter is looked for. */
export const commandOf = (definition: FilterDefinition): string => commandsOf(definition)[0] ?? "";

/** The names after `filter=` in the text of an attribute file. */
export function filtersNamedIn(text: string): readonly string[] {
  const names = text.split("\n").flatMap((line) => {
    const rules = line.trim().replace(quotedPattern, "");
    if (rules.startsWith("#")) return [];
    return [...rules.matchAll(/(?:^|\s)filter=(\S+)/g)].map(([, name = ""]) => name);
  });
  return [...new Set(names)].toSorted();
}

/** A pattern in double quotes may hold spaces, and behind one of them anything. */
const quotedPattern = /^"(?:[^"\\]|\\.)*"/;

/** One sentence per filter, with the command that helps. */
export function filterSentence({ name, problem, command }: FilterProblem): string {
  const shown = command === null || command === "" ? "" : ` (${command})`;
  switch (problem) {
    case "missing":
      return `the filter "${name}" is named by .gitattributes but defined nowhere; install it, or work without it: ov trust add ${shellWord(name)}`;
    case "other-attributes":
      return `git's attributes or settings of this repository change how files look, and are not as you confirmed them; look at them${shown}, then: ov trust add ${shellWord(name)}`;
    case "no-program":
      return `the program of the filter "${name}"${shown} is not installed`;
    case "unconfirmed":
      return `the filter "${name}"${shown} is defined by this repository and not confirmed; look at it, then: ov trust add ${shellWord(name)}`;
    case "changed":
      return `the filter "${name}"${shown} has changed since it was confirmed; look at it, then: ov trust add ${shellWord(name)}`;
  }
}

/** The digest of each hook that the operator confirmed, by the path of its file. */
export type HookPins = Readonly<Record<string, string>>;

/** One hook that could veto a merge. */
export interface Hook {
  readonly name: string;
  readonly path: string;
  readonly digest: string;
  /** Found where the user's or the system's configuration says, not where the repository's does. */
  readonly isUsers: boolean;
}

/** Only these are ever run by us. */
export const isTrustedHook = ({ path, digest, isUsers }: Hook, pins: HookPins): boolean =>
  isUsers || pins[path] === digest;
