import { existsSync } from "node:fs";
import { join } from "node:path";
import { unusableWords } from "../config/problem.ts";
import type { ProjectPlace } from "../domain/project/place.ts";
import { readText } from "../host/file-access.ts";
import { say } from "../host/log-files.ts";
import { placeIfAny } from "../host/project-place.ts";
import { isMarked, openProject, type Project } from "./project.ts";

/** `ov engine run --project P` and `ov turn run <id> --fence N --project P`: started by us, never typed by people. */
export async function runService(argv: readonly string[]): Promise<number> {
  // The program that starts agents must not run inside an agent: every agent below it would carry that agent's mark.
  if (isMarked()) throw new Error("services are not started inside an agent");
  const after = (flag: string): string => argv[argv.indexOf(flag) + 1] ?? "";
  const root = after("--project");
  // A keeper or a service manager that starts us again where the project is no more should stop doing so.
  const place = existsSync(root) ? placeIfAny(root) : undefined;
  if (place === undefined) return 0;
  const project = await openForService(place, argv[0] === "engine");
  // A keeper that started the engine again would only do so in vain. The next command starts one.
  if (project === undefined) return 0;
  if (argv[0] === "engine") {
    for (const notice of project.notices) sayOnce(project.dir, notice);
    const { engineMain } = await import("./engine-main.ts");
    await engineMain(project);
    return 0;
  }
  const { turnMain } = await import("./turn-main.ts");
  await turnMain(project, argv[2] ?? "", Number(after("--fence")));
  return 0;
}

/**
 * The project with its settings. While a settings file is broken, its last known copy counts: work that has begun goes
 * on, as it does under an engine that runs already. Undefined when there is no usable copy either.
 */
async function openForService(place: ProjectPlace, isEngine: boolean): Promise<Project | undefined> {
  const open = (): Promise<Project> => openProject(place, process.env, { lastKnown: true });
  try {
    return await open();
  } catch (thrown) {
    if (unusableWords(thrown) === undefined) throw thrown;
  }
  // A command starts no engine while our keeper counts. It no longer does, so the file may be mended from here on.
  if (isEngine) await leaveKeeper(place.state);
  try {
    return await open();
  } catch (thrown) {
    const where = unusableWords(thrown);
    if (where === undefined) throw thrown;
    sayOnce(
      place.state,
      `no engine can work here: the settings cannot be used, and no earlier copy of them is known: ${where}; mend them, and the next ov command starts it again`,
    );
    return undefined;
  }
}

/** Takes the keeper that started this engine off the record. */
async function leaveKeeper(state: string): Promise<void> {
  const { enginePaths, forgetKeeper, readIdentity } = await import("../host/engine-contact/keeper.ts");
  if (readIdentity(enginePaths(state).keeper)?.pid === process.ppid) forgetKeeper(state);
}

/** Writes to the log unless that ends with the same words already, however often the service is started. */
function sayOnce(state: string, words: string): void {
  if (
    readText(join(state, "run", "engine.log"))
      ?.trimEnd()
      .endsWith(words) !== true
  )
    say(`${new Date().toISOString()} ${words}\n`);
}
