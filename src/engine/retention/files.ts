import { environmentOf } from "../../domain/completion/check.ts";
import { isWanted } from "../../usecases/gates/environments.ts";
import type { EnginePorts } from "../ports.ts";
import type { Prune, Pruned } from "./prune.ts";

type FilePorts = Pick<EnginePorts, "store" | "oldFiles">;

const gone = (removed: number): Pruned => ({ removed, more: false });

/** Deletes the input and output files of turns whose rows are gone. */
export const pruneTurnLogs: Prune<FilePorts> = async ({ store, oldFiles }, { before, hour }) => {
  const old = await oldFiles.turnLogsBefore(before, hour);
  const unused = await store.read(async (tx) => {
    const found: string[] = [];
    for (const { path, turnId } of old) if ((await tx.turns.get(turnId)) === undefined) found.push(path);
    return found;
  });
  await oldFiles.removeTurnLogs(unused);
  return gone(unused.length);
};

/** Deletes the output of gates that ran long ago, except for checks that are still running. */
export const pruneMergeLogs: Prune<FilePorts> = async ({ store, oldFiles }, { before, hour }) => {
  const old = await oldFiles.logsBefore(before, hour);
  if (old.length === 0) return gone(0);
  const inWork = await store.read(async (tx) => {
    const open = [
      ...(await tx.mergeAttempts.unfinished()),
      ...(await tx.checks.queued()),
      ...(await tx.checks.running()),
    ];
    return new Set(open.map(({ id }) => id));
  });
  const unused = old.filter((id) => !inWork.has(id));
  await oldFiles.removeLogs(unused);
  return gone(unused.length);
};

/** Deletes old texts of specifications that newer texts have replaced. */
export const pruneSpecs: Prune<FilePorts> = async ({ store, oldFiles }, { before, hour }) => {
  const old = await oldFiles.specsBefore(before, hour);
  if (old.length === 0) return gone(0);
  const inUse = await store.read((tx) => tx.specs.inUse(old));
  const unused = old.filter((digest) => !inUse.has(digest));
  await oldFiles.removeSpecs(unused, before);
  return gone(unused.length);
};

/** Deletes captured variables when their agents and checks no longer need them; see `forgetVariables`. */
export const pruneEnvironments: Prune<FilePorts & Pick<EnginePorts, "forgetEnvironment">> = async (ports, when) => {
  const old = await ports.oldFiles.environmentsBefore(when.before, when.hour);
  if (old.length === 0) return gone(0);
  const unused = await ports.store.read(async (tx) => {
    const checks = [...(await tx.checks.queued()), ...(await tx.checks.running())];
    const asked = new Set(checks.map((check) => environmentOf(check)));
    const found: string[] = [];
    for (const file of old) {
      if (!asked.has(file) && !(await isWanted(tx, file, nobodysName))) found.push(file);
    }
    return found;
  });
  for (const file of unused) ports.forgetEnvironment(file);
  return gone(unused.length);
};

/** A name that no agent can have, so that the question covers every agent. */
const nobodysName = "";

/** Deletes long mail bodies that belong to no stored message. */
export const pruneBlobs: Prune<FilePorts> = async ({ store, oldFiles }, { before, hour }) => {
  const old = await oldFiles.blobsBefore(before, hour);
  if (old.length === 0) return gone(0);
  const inUse = await store.read((tx) => tx.messages.blobsInUse(old));
  const unused = old.filter((name) => !inUse.has(name));
  await oldFiles.removeBlobs(unused, before);
  return gone(unused.length);
};
