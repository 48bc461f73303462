import { behindLink, type NamedByCommand } from "../gate/named-by-command.ts";
import { steersAgents } from "../guard/steering-files.ts";
import { covers, matchesGlob } from "../text/glob.ts";

/** A changed file that decides how the branch is judged, or that steers agents. */
export interface Touched {
  readonly path: string;
  /** Completes "it changes <path>, which ...". */
  readonly why: string;
}

export interface SteeringFacts {
  /** Files that the branch would change on its target. */
  readonly changed: readonly string[];
  /** `merge.guarded`. */
  readonly guarded: readonly string[];
  /** Files that steer the runtimes which the project describes itself: globs. */
  readonly ofRuntimes: readonly string[];
  /** Directory of the project's own role texts. */
  readonly roleTexts: string;
  /** Names of the directories that the setup command makes. */
  readonly kept: readonly string[];
  /** The gates and the setup command as they are on the target. */
  readonly commands: readonly ProjectCommand[];
  /** Changed entries of `scripts`, by manifest. */
  readonly changedScripts: ReadonlyMap<string, ReadonlySet<string>>;
  /** The symbolic links of the target, each with its destination. */
  readonly links: ReadonlyMap<string, string>;
}

export interface ProjectCommand {
  /** The name of the command in messages. */
  readonly by: string;
  readonly named: NamedByCommand;
}

/** The changed files that need the operator's approval. Tests and ordinary code do not. */
export function touchedSteering(facts: SteeringFacts): readonly Touched[] {
  const links = [...facts.links].map(([at, target]) => ({ at, to: behindLink(at, target) }));
  return facts.changed.flatMap((path) => {
    const why = reasonFor(path, facts) ?? reasonBehindLinks(path, links, facts);
    return why === undefined ? [] : [{ path, why }];
  });
}

/** A sentence about each file, for the receipt. */
export const steeringGaps = (touched: readonly Touched[]): readonly string[] => {
  const told = touched.slice(0, mostTold).map(({ path, why }) => `it changes ${path}, which ${why}`);
  const more = touched.length - told.length;
  return more > 0 ? [...told, `it changes ${more} more files of that kind`] : told;
};

const mostTold = 8;

interface Link {
  readonly at: string;
  readonly to: string;
}

/** The same for the other names that a file has by links on the target. Each link counts once on the way to a name. */
function reasonBehindLinks(path: string, links: readonly Link[], facts: SteeringFacts): string | undefined {
  const rest: { readonly name: string; readonly used: readonly Link[] }[] = [{ name: path, used: [] }];
  const seen = new Set([path]);
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { name, used } = next;
    for (const link of links) {
      const other = nameBy(link, name);
      if (other === undefined || used.includes(link) || seen.has(other)) continue;
      const why = reasonByName(other, facts);
      if (why !== undefined) return `is ${other} by a link, which ${why}`;
      if (seen.size === mostNames) return "has too many other names by links to tell whether it steers agents";
      seen.add(other);
      rest.push({ name: other, used: [...used, link] });
    }
  }
  return undefined;
}

const mostNames = 1000;

function nameBy({ at, to }: Link, path: string): string | undefined {
  if (to === "") return `${at}/${path}`;
  return path === to || path.startsWith(`${to}/`) ? at + path.slice(to.length) : undefined;
}

function reasonByName(path: string, facts: SteeringFacts): string | undefined {
  if (isSteering(path, facts.roleTexts)) return "steers agents or the merge queue";
  if (/(^|\/)\.gitattributes$/i.test(path)) return "decides how git writes every file, those of the gates too";
  if (facts.ofRuntimes.some((pattern) => covers(pattern, path))) return "steers agents of a runtime of this project";
  return facts.guarded.some((pattern) => covers(pattern, path)) ? "merge.guarded names" : undefined;
}

function reasonFor(path: string, facts: SteeringFacts): string | undefined {
  const byName = reasonByName(path, facts);
  if (byName !== undefined) return byName;
  const made = path.split("/").find((part, at, parts) => facts.kept.some((kept) => isKept(kept, part, parts, at)));
  if (made !== undefined) return `lies in ${made}, which the setup command makes`;
  for (const { by, named } of facts.commands) {
    const scripts = changedScriptsOf(path, named, facts.changedScripts);
    if (scripts.length > 0) return `has the script ${scripts.join(", ")} that ${by} runs`;
    // A changed link or submodule also changes every path behind it.
    const isNamed = named.paths.some(
      (each) => each === path || each.startsWith(`${path}/`) || (isPattern.test(each) && matchesGlob(path, each)),
    );
    if (isNamed) return `${by} names`;
  }
  return undefined;
}

const isPattern = /[*?[{]/;

/**
 * Case does not matter, because some file systems ignore it. Specs are texts that agents write for each other, so they
 * do not count.
 */
function isSteering(path: string, roleTexts: string): boolean {
  const name = path.toLowerCase();
  if (name.startsWith(".overstory/")) return !name.startsWith(".overstory/specs/");
  const roles = roleTexts.replace(/\/+$/, "");
  // A link may take the place of the directory, or of one above it.
  if (path.startsWith(`${roles}/`) || roles === path || roles.startsWith(`${path}/`)) return true;
  return name === ".overstory" || steersAgents(path);
}

const isKept = (kept: string, part: string, parts: readonly string[], at: number): boolean =>
  kept.includes("/") ? parts.slice(0, at + 1).join("/") === kept : part === kept;

function changedScriptsOf(
  manifest: string,
  { scripts }: NamedByCommand,
  changed: SteeringFacts["changedScripts"],
): readonly string[] {
  const differing = changed.get(manifest);
  return scripts.filter((each) => each.manifest === manifest && differing?.has(each.name)).map(({ name }) => name);
}
