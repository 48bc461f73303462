import {
  type Answer,
  escalate,
  type Regeneration,
  regenerationFor,
  resolved,
  skip,
} from "../../../structured-merge/index.ts";
import type { Rung, Triple } from "./triple.ts";

/** Starts from `content` as the file at `path`, runs the command there and answers the file it left; undefined when it failed. */
export type Regenerate = (request: Regeneration & { path: string; content: string }) => Promise<string | undefined>;

/** Generated files are not merged: ours is taken and made again. Without a way to run commands a person has to. */
export function regenerateRung(regenerate?: Regenerate): Rung {
  return { name: "regenerate", attempt: (triple) => regenerated(triple, regenerate) };
}

async function regenerated({ path, ours }: Triple, regenerate: Regenerate | undefined): Promise<Answer> {
  const how = regenerationFor(path);
  if (how === undefined) return skip;
  const words = how.command.join(" ");
  if (regenerate === undefined) return escalate(`a generated file; make it again with: ${words}`);
  const content = await regenerate({ ...how, path, content: ours });
  return content === undefined
    ? escalate(`the file could not be made again with: ${words}`)
    : resolved("regenerate", content);
}
