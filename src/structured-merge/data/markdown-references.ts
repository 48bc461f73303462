import type { Texts } from "../outcome.ts";
import { opaqueLines, outlineOf, type Section } from "./markdown-parse.ts";

/** What would point to two places, or to none, though every version alone is right: link labels, footnotes, headings. */
export function brokenReference({ base, ours, theirs }: Texts, content: string): string | undefined {
  const known = new Set([...twiceDefined(ours), ...twiceDefined(theirs)]);
  const twice = twiceDefined(content).find((label) => !known.has(label));
  if (twice !== undefined) return `[${twice}] would be defined twice`;
  return lostHeading({ base, remover: ours, user: theirs }) ?? lostHeading({ base, remover: theirs, user: ours });
}

const definition = /^ {0,3}\[([^\]]+)\]:\s*\S/;

function twiceDefined(text: string): string[] {
  const lines = text.split("\n");
  const opaque = opaqueLines(lines);
  const labels = lines.flatMap((line, at) =>
    opaque[at] === true ? [] : (definition.exec(line)?.[1]?.toLowerCase() ?? []),
  );
  return labels.filter((label, at) => labels.indexOf(label) !== at);
}

interface Roles {
  readonly base: string;
  readonly remover: string;
  readonly user: string;
}

function lostHeading({ base, remover, user }: Roles): string | undefined {
  const left = slugsOf(remover);
  const lost = [...slugsOf(base)].filter((slug) => !left.has(slug));
  const [before, now] = [linksOf(base), linksOf(user)];
  const dangling = lost.find((slug) => (now.get(slug) ?? 0) > (before.get(slug) ?? 0));
  return dangling && `the heading #${dangling} is gone on one side and newly linked to on the other`;
}

function slugsOf(text: string): ReadonlySet<string> {
  const slugs = new Set<string>();
  const visit = ({ key, children }: Section): void => {
    slugs.add(slugOf(key));
    for (const child of children) visit(child);
  };
  visit(outlineOf(text).root);
  return slugs;
}

const slugOf = (heading: string): string =>
  heading
    .replace(/^#+\s+/, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");

function linksOf(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [, slug = ""] of text.matchAll(/\]\(#([^)\s]+)\)/g)) counts.set(slug, (counts.get(slug) ?? 0) + 1);
  return counts;
}
