import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import type { Effect } from "../operation.ts";

export interface ChangesRequest {
  readonly target: string;
  readonly branch: string;
  readonly commit: string;
}

/** Not looked up: every command that queues a branch comes here, and git refuses an id that it does not know. */
const isId = /^[0-9a-f]{40,64}$/;

/**
 * Files that landing this commit of a branch would change where work for the target lands now, those that come back with
 * it included; none when the target does not exist.
 */
export const listChanges: Effect<ChangesRequest, { readonly files: readonly string[] }> = {
  kind: "effect",
  request: fields({ target: text, branch: text, commit: text }),
  place: "engine",
  run: async (world, request) => {
    const { target, branch, commit } = request;
    if (!isId.test(commit)) return no(invalid("commit", "is no id of a commit", { value: commit }));
    const record = await world.call("merge.readRecord", { branches: [branch], runId: null });
    if (!record.ok) return record;
    const [words = []] = record.value.words;
    const quick = words.length === 0 ? await (await world.quickGit()).changedFiles(target, commit) : undefined;
    if (quick !== undefined) return ok({ files: quick });
    // Loaded where it is needed: every command that queues a branch comes here.
    const { changesOf } = await import("../merge/look-ahead.ts");
    return ok({ files: await world.lookAhead((git) => changesOf(git, request, words)) });
  },
};
