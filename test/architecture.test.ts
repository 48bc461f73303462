import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { catalog } from "../src/usecases/catalog.ts";

const repository = resolve(import.meta.dir, "..");
const text = readFileSync(join(repository, "ARCHITECTURE.md"), "utf8");
const sectionOf = (title: string): string => new RegExp(`^## ${title}\n(.*?)(?=^## )`, "ms").exec(text)?.[1] ?? "";

/** Where each journey begins and ends. */
const ends: Readonly<Record<string, readonly [string, string]>> = {
  command: ["compose/main", "usecases/channel/run-use-case"],
  engine: ["compose/main", "engine/engine"],
  go: ["compose/main", "usecases/mail/post"],
  sling: ["compose/main", "usecases/mail/post"],
  turn: ["compose/main", "engine/supervisor/follow-end"],
  done: ["compose/main", "usecases/mail/submit"],
  land: ["engine/engine", "usecases/merge/queue/settle-entry"],
};

interface Journey {
  readonly name: string;
  readonly count: number;
  readonly files: readonly string[];
}

/** The lists of "The files on the way". `*command*` stands for the list of that name. */
function journeys(): Journey[] {
  const found: Journey[] = [];
  const paragraphs = sectionOf("The files on the way").matchAll(/^\*\*(\w+)\*\*, (\d+) files: (.*?)\n\n/gms);
  for (const [, name = "", count, list = ""] of paragraphs) {
    const files = [...list.matchAll(/\*(\w+)\*|`([^`]+)`/g)].flatMap(([, shared, file = ""]) =>
      shared === undefined ? [file] : (found.find((one) => one.name === shared)?.files ?? [`no list ${shared}`]),
    );
    found.push({ name, count: Number(count), files });
  }
  return found;
}

const pathOf = (file: string): string => join(repository, "src", `${file}.ts`);

/** What a file loads, at its start or later. Imports of types only are none. */
function importsOf(file: string): string[] {
  const scanned = new Bun.Transpiler({ loader: "ts" }).scanImports(readFileSync(pathOf(file), "utf8"));
  return scanned.map(({ path }) => resolve(dirname(pathOf(file)), path));
}

test("the journeys are there, each with its beginning, its end and its number of files", () => {
  const seen = journeys().map(({ name, files }) => [name, [files[0], files.at(-1)]]);
  expect(Object.fromEntries(seen)).toEqual(ends);
  for (const { name, count, files } of journeys()) {
    expect([name, new Set(files).size]).toEqual([name, files.length]);
    expect([name, files.length]).toEqual([name, count]);
  }
});

test("every file of a journey is loaded by an earlier one of its list", () => {
  const lost = journeys().flatMap(({ name, files }) => {
    const reached = new Set<string>();
    return files.flatMap((file, at) => {
      const isReached = at === 0 || reached.has(pathOf(file));
      for (const path of importsOf(file)) reached.add(path);
      return isReached ? [] : [`${name}: ${file} is imported by no earlier file`];
    });
  });
  expect(lost).toEqual([]);
});

test("the journey of an objective goes from go to promote, by operations that there are", () => {
  const rows = [...sectionOf("The journey of an objective").matchAll(/^\| ([a-z]+) +\|(.*)$/gm)];
  const steps = rows.map(([, step]) => step);
  expect([steps[0], steps.at(-1)]).toEqual(["go", "promote"]);
  expect(steps).toEqual(expect.arrayContaining(["plan", "sling", "done", "review", "land"]));
  const named = rows.flatMap(([, , row = ""]) => [...row.matchAll(/`([a-z]+\.[\w-]+)`/g)].map(([, name = ""]) => name));
  expect(named).not.toEqual([]);
  expect(named.filter((name) => !Object.hasOwn(catalog, name))).toEqual([]);
});
