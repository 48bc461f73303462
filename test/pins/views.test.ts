import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Glob } from "bun";
import { viewExamples } from "./view-examples.ts";

const pin = join(import.meta.dir, "views.txt");
const folder = resolve(import.meta.dir, "../../src/contract/views");

// Scripts and models read these objects. A key may be added; a line that vanishes or changes breaks somebody's script.
test("every view has exactly the keys and types that are written down (UPDATE_PINS=1 writes them anew)", async () => {
  const shown = (await viewsByName()).map(([name, view]): readonly [string, readonly unknown[]] => {
    const examples: readonly (readonly unknown[])[] = viewExamples[name as keyof typeof viewExamples] ?? [];
    expect([name, examples.length > 0]).toEqual([name, true]);
    return [name, examples.map((given) => JSON.parse(JSON.stringify(view(...given))))];
  });
  const known = new Map(shown.map(([name, values]) => [keysOf(values.filter(isObject)).join(), name]));
  const shapes = shown.flatMap(([name, values]) => [...shapeOf(name, values, known), ""]).join("\n");
  if (process.env.UPDATE_PINS === "1") writeFileSync(pin, shapes);
  expect(shapes).toBe(readFileSync(pin, "utf8"));
});

test("a view leaves nothing out that its older keys promise", async () => {
  const views = new Map(await viewsByName());
  const shown = (name: keyof typeof viewExamples) => views.get(name)?.(...(viewExamples[name][0] ?? []));
  expect(shown("agentView")).toMatchObject({
    agentName: "b1",
    branchName: "overstory/b1/T1",
    claudeSessionId: "session-1",
    lastActivity: "2025-11-16T00:00:00.000Z",
    parentAgent: "lead",
    pid: null,
    sessionId: "agent-1",
    tmuxSession: "",
  });
  expect(shown("mergeResultsView")).toMatchObject({ success: false, count: 2, successCount: 1, failCount: 1 });
});

type View = (...given: readonly unknown[]) => unknown;

/** All exported functions of the folder that are named as views, by name. */
async function viewsByName(): Promise<readonly (readonly [string, View])[]> {
  const found: (readonly [string, View])[] = [];
  for (const file of new Glob("*.ts").scanSync(folder)) {
    const module: Record<string, unknown> = await import(join(folder, file));
    for (const [name, value] of Object.entries(module)) {
      if (name.endsWith("View") && typeof value === "function") found.push([name, value as View]);
    }
  }
  return found.sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * One line per key: `taskView.labels[]: string`. A key that only some examples have is marked with a question mark. An
 * object with the keys of a view is named after it instead of being written out again.
 */
function shapeOf(name: string, values: readonly unknown[], known: ReadonlyMap<string, string>): readonly string[] {
  const items = values.filter((value) => Array.isArray(value)).flat();
  const objects = values.filter(isObject);
  const keys = keysOf(objects);
  const view = name.includes(".") ? known.get(keys.join()) : undefined;
  const kinds = [...new Set(values.map((value) => (isObject(value) ? (view ?? "object") : kindOf(value))))].sort();
  return [
    `${name}: ${kinds.join(" | ")}`,
    ...(items.length === 0 ? [] : shapeOf(`${name}[]`, items, known)),
    ...(view === undefined ? keys : []).flatMap((key) => {
      const having = objects.filter((object) => Object.hasOwn(object, key));
      const mark = having.length < objects.length ? "?" : "";
      const ofKey = having.map((object) => object[key]);
      return shapeOf(`${name}.${key}${mark}`, ofKey, known);
    }),
  ];
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "list" : typeof value;
}

const keysOf = (objects: readonly Record<string, unknown>[]): readonly string[] =>
  [...new Set(objects.flatMap((object) => Object.keys(object)))].sort();

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
