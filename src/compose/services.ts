import { existsSync } from "node:fs";
import { Failure } from "../domain/failure.ts";
import { placeIfAny } from "../host/project-place.ts";
import { isMarked, openProject } from "./project.ts";

/** `ov engine run --project P` and `ov turn run <id> --fence N --project P`: started by us, never typed by people. */
export async function runService(argv: readonly string[]): Promise<number> {
  // What an agent could be started by must not be inside one: it would be everybody's supervisor, with an agent's mark.
  if (isMarked()) throw new Failure({ kind: "unexpected", problem: "services are not started inside an agent" });
  const after = (flag: string): string => argv[argv.indexOf(flag) + 1] ?? "";
  const root = after("--project");
  // A keeper or a service manager that starts us again where the project is no more should stop doing so.
  const place = existsSync(root) ? placeIfAny(root) : undefined;
  if (place === undefined) return 0;
  const project = await openProject(place, process.env);
  if (argv[0] === "engine") {
    const { engineMain } = await import("./engine-main.ts");
    await engineMain(project);
    return 0;
  }
  const { turnMain } = await import("./turn-main.ts");
  await turnMain(project, argv[2] ?? "", Number(after("--fence")));
  return 0;
}
