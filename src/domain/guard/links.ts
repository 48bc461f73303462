import { absolute, isInside, lookedUpOnce, type Places } from "./paths.ts";
import type { Invocation } from "./shell/invocations.ts";
import { hasOption, operands, type ShellWord, valuesOf } from "./shell/syntax.ts";
import { type Denial, deny } from "./tool-use.ts";

/** A link that a line makes: it is not there yet when the line is judged. */
interface Link {
  readonly at: string;
  readonly to: string;
  /** From another place it would lead elsewhere. */
  readonly climbs: boolean;
}

/** The links that these programs would make, by all names that they may get. */
export function linksMade(invocations: readonly Invocation[], places: Places): readonly Link[] {
  return invocations.flatMap(({ name, args, cwd }) => {
    if (!/^g?ln$/.test(name) || !hasOption(args, "s", "symbolic")) return [];
    const told = valuesOf(args, "-t", "--target-directory");
    const words = operands(args).filter((word) => !told.includes(word));
    const [directory = words.length > 1 ? words.at(-1) : undefined] = told;
    const sources = told.length > 0 || words.length === 1 ? words : words.slice(0, -1);
    return sources.flatMap((source) => linksTo(source, directory, { cwd, places }));
  });
}

function linksTo(
  source: ShellWord,
  place: ShellWord | undefined,
  { cwd, places }: { readonly cwd: string | undefined; readonly places: Places },
): readonly Link[] {
  const base = source.text.replace(/\/+$/, "").split("/").at(-1) ?? "";
  const given = place === undefined ? undefined : absolute(place, cwd, places.home)?.replace(/\/+$/, "");
  const inside = given ?? (place === undefined ? cwd : undefined);
  const names = [given, inside === undefined || base === ".." ? undefined : `${inside}/${base}`];
  return names.flatMap((at) => {
    const to = at === undefined ? undefined : absolute(source, at.slice(0, at.lastIndexOf("/")), places.home);
    const climbs = !source.home && !source.text.startsWith("/") && source.text.split("/").includes("..");
    return at === undefined || to === undefined ? [] : [{ at: places.realPath(at), to, climbs }];
  });
}

/** The same places once these links are there. */
export function withLinks(places: Places, links: readonly Link[]): Places {
  const leads = new Map(links.map(({ at, to }) => [at, to]));
  const realPath = (path: string): string => {
    let real = "";
    for (const part of path.split("/")) {
      if (part === "") continue;
      real = `${real}/${part}`;
      real = leads.get(places.realPath(real)) ?? real;
    }
    return places.realPath(real);
  };
  return lookedUpOnce({ ...places, realPath });
}

/** A moved link with `..` in it leads to another target. No check has seen that target. */
export function checkMovedLinks(
  { name, args, cwd }: Invocation,
  links: readonly Link[],
  places: Places,
): Denial | undefined {
  const climbing = links.filter(({ climbs }) => climbs);
  if (climbing.length === 0 || !keepsLinks(name, args)) return undefined;
  const carries = (word: ShellWord): boolean => {
    const path = absolute(word, cwd, places.home);
    if (path === undefined) return true;
    const from = places.realPath(word.pattern ? path.slice(0, path.lastIndexOf("/")) : path);
    return climbing.some(({ at }) => isInside(at, from));
  };
  return operands(args).some(carries)
    ? deny("boundary", "a link that is moved leads somewhere else; make it in the place where it is to stay")
    : undefined;
}

/** Does it give links another place without following them? */
function keepsLinks(name: string, args: readonly ShellWord[]): boolean {
  if (/^g?cp$/.test(name)) return hasOption(args, "adPRr", "archive", "no-dereference", "recursive", "preserve");
  if (name === "git") return args.some(({ text }) => text === "mv");
  return /^(g?mv|rename|prename|rsync|tar|gtar|bsdtar|cpio|install)$/.test(name);
}
