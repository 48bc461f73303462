import { relative } from "node:path";
import { configKeys, type Explanation, explain, listConfig, withoutEffect } from "../config/explain.ts";
import { type Loaded, loadConfig } from "../config/load.ts";
import { type ConfigProblem, unusableConfig } from "../config/problem.ts";
import { configFiles, type Environment } from "../config/sources.ts";
import { nearest } from "../domain/name/nearest.ts";
import type { ProjectPlace } from "../domain/project/place.ts";
import { invalid } from "../domain/refusal.ts";
import { no, ok } from "../domain/result.ts";
import { hasDatabase } from "../host/project-place.ts";
import type { ConfigFacet, ConfigKeyView, ConfigProblemView } from "../surfaces/cli/facets/config.ts";
import { makeConfigEditor } from "./config-edit.ts";
import { doorOf } from "./project.ts";

/** The configuration of a project as this environment sees it. Always from the sources, never compiled. */
export function makeConfigFacet(place: ProjectPlace, env: Environment): ConfigFacet {
  const { root } = place;
  const files = configFiles(place);
  const load = (): Promise<Loaded> => loadConfig(files, env);
  const view = (explanation: Explanation): ConfigKeyView => keyView(root, explanation);
  const edit = makeConfigEditor(files, env);
  return {
    get: async (key) => {
      const loaded = await load();
      const found = explain(key, loaded);
      if (!found.ok) return found;
      if (!loaded.ok) throw unusableConfig(files.project, loaded.problems);
      return ok(found.value.value);
    },
    set: async (key, value, { local }) => {
      const before = explain(key, await load());
      if (!before.ok) return before;
      const edited = await edit(key, value, { local });
      if (!edited.ok) return edited;
      const loaded = await load();
      if (loaded.ok) {
        const { acknowledgeSetting } = await import("./judging-settings.ts");
        acknowledgeSetting(place.state, key, loaded.config);
      }
      await tellEngine(place, env, key);
      const after = explain(key, loaded);
      if (!after.ok) return after;
      const layer = local ? "local" : "project";
      return ok({
        file: relative(root, edited.value.file),
        before: before.value.value,
        after: view(after.value),
        inForce: after.value.origin.layer === layer,
      });
    },
    list: async (section) => {
      const all = listConfig(await load(), section);
      if (section === undefined || all.length > 0) return ok(all.map(view));
      const near = nearest(section, sections());
      return no(
        invalid("section", "has no keys", near === undefined ? { value: section } : { value: section, nearest: near }),
      );
    },
    explain: async (key) => {
      const found = explain(key, await load());
      return found.ok ? ok(view(found.value)) : found;
    },
    validate: async () => {
      const loaded = await load();
      const { problems, warnings } = loaded;
      const told = (list: readonly ConfigProblem[]): ConfigProblemView[] =>
        list.map((problem) => ({ ...problem, file: shownFile(root, problem.file) }));
      return { problems: told(problems), warnings: told([...warnings, ...withoutEffect(loaded)]) };
    },
  };
}

/**
 * Tells a running engine of the new settings. A raised budget may free an agent, so a change of budgets also starts an
 * engine.
 */
async function tellEngine({ root, state }: ProjectPlace, env: Environment, key: string): Promise<void> {
  if (!hasDatabase(state)) return;
  const door = doorOf({ root, dir: state, env });
  if (!(await door.wake()) && key.startsWith("budgets.")) await door.ensure();
}

function keyView(root: string, { origin, ...rest }: Explanation): ConfigKeyView {
  const { layer, file, line } = origin;
  const where = layer === "default" ? layer : shownFile(root, file);
  return { ...rest, origin: line > 0 ? `${where}:${line}` : where };
}

/** A variable's name is no path. */
const shownFile = (root: string, file: string): string => (file.startsWith("/") ? relative(root, file) : file);

function sections(): ReadonlySet<string> {
  const known = new Set<string>();
  for (const key of configKeys()) {
    const parts = key.split(".");
    for (let depth = 1; depth <= parts.length; depth++) known.add(parts.slice(0, depth).join("."));
  }
  return known;
}
