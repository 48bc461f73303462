import { environmentOf } from "../../domain/completion/check.ts";
import type { EnginePorts } from "../ports.ts";

type FilePorts = Pick<EnginePorts, "store" | "oldFiles">;

/** Deletes the output of gates that ran long ago; of what is being checked now it stays. */
export async function pruneMergeLogs({ store, oldFiles }: FilePorts, before: number, turn: number): Promise<void> {
  const old = await oldFiles.logsBefore(before, turn);
  if (old.length === 0) return;
  const inWork = await store.read(async (tx) => {
    const open = [
      ...(await tx.mergeAttempts.unfinished()),
      ...(await tx.checks.queued()),
      ...(await tx.checks.running()),
    ];
    return new Set(open.map(({ id }) => id));
  });
  await oldFiles.removeLogs(old.filter((id) => !inWork.has(id)));
}

/** Deletes texts of specifications that were replaced long ago. */
export async function pruneSpecs({ store, oldFiles }: FilePorts, before: number, turn: number): Promise<void> {
  const old = await oldFiles.specsBefore(before, turn);
  if (old.length === 0) return;
  const inUse = await store.read((tx) => tx.specs.inUse(old));
  await oldFiles.removeSpecs(
    old.filter((digest) => !inUse.has(digest)),
    before,
  );
}

/** A look must not hold the writers' lock for long, however many there are. */
const mostReplies = 2_000;

/** Forgets what remote calls were answered. */
export async function pruneReplies({ store }: Pick<EnginePorts, "store">, before: number): Promise<void> {
  await store.transaction((tx) => tx.requests.forget(before, mostReplies));
}

/** Deletes variables that were captured for agents, or for checks, which are done with them; see `forgetVariables`. */
export async function pruneEnvironments(
  { store, oldFiles, forgetEnvironment }: FilePorts & Pick<EnginePorts, "forgetEnvironment">,
  before: number,
  turn: number,
): Promise<void> {
  const old = await oldFiles.environmentsBefore(before, turn);
  if (old.length === 0) return;
  const unused = await store.read(async (tx) => {
    const checks = [...(await tx.checks.queued()), ...(await tx.checks.running())];
    const asked = new Set(checks.map((check) => environmentOf(check)));
    const found: string[] = [];
    for (const file of old) {
      if (!asked.has(file) && !(await tx.agents.usesEnvironment(file, nobodysName))) found.push(file);
    }
    return found;
  });
  for (const file of unused) forgetEnvironment(file);
}

/** No agent can have it, so none is left out of the question. */
const nobodysName = "";

/** Deletes long mail bodies that no message has: of messages that are gone, or that were never stored. */
export async function pruneBlobs({ store, oldFiles }: FilePorts, before: number, turn: number): Promise<void> {
  const old = await oldFiles.blobsBefore(before, turn);
  if (old.length === 0) return;
  const inUse = await store.read((tx) => tx.messages.blobsInUse(old));
  await oldFiles.removeBlobs(
    old.filter((name) => !inUse.has(name)),
    before,
  );
}
