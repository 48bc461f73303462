import { existsSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { FileFacts, NamedProcess, SeenFile, StoredRows } from "../../domain/consistency/facts.ts";
import type { ProjectPlace } from "../../domain/project/place.ts";
import { readNotice } from "../engine-contact/caller.ts";
import { readIdentity } from "../engine-contact/keeper.ts";
import { errorCode, readText } from "../file-access.ts";
import { plansIn } from "../git/checkout-move/move-plan.ts";
import { commonDirOf } from "../git/places.ts";
import { identityOf, readRecord } from "../project-place.ts";

/** Directories of the state that are looked into, and how deep. Logs of turns and copies of git are not. */
const depths: Readonly<Record<string, number>> = { run: 3, agents: 2, logs: 1, "mail-blobs": 1, trash: 1, backups: 2 };

/** The files of the state directory. */
export function readStateFiles(place: ProjectPlace, rows: StoredRows | null, now: number): FileFacts {
  const { root, state } = place;
  const entries = [...seen(state, "", now), ...filesBelow(state, "", now, 1)];
  const names = entries.map(({ path }) => path);
  const record = readRecord(state);
  const scratch = join(state, "run", "git");
  const common = commonDirOf(root);
  const plans = new Set(
    common === undefined ? [] : plansIn({ scratch, commonDir: common }).map(({ checkout }) => checkout),
  );
  return {
    entries,
    identities: ["run/engine.json", "run/keeper.json", "run/keeper.lock", "run/successor.json"].flatMap((name) =>
      names.includes(name) ? [namedProcess(place, name, now)] : [],
    ),
    mirrors: names.flatMap((name) => {
      const agentName = /^agents\/([^/]+)\/turn\.pid$/.exec(name)?.[1];
      if (agentName === undefined) return [];
      return [{ path: join(state, name), agentName, turnId: turnIn(join(state, name)) }];
    }),
    moves: names
      .filter((name) => /^run\/git\/moves\/[^/]+\.json(\.refused)?$/.test(name))
      .map((name) => {
        const checkout = checkoutIn(join(state, name));
        return { path: join(state, name), checkout: checkout ?? "", isOurs: checkout !== null && plans.has(checkout) };
      }),
    record: record === undefined ? null : { id: record.id, root: record.root },
    gonePids: gonePids(names),
    hiddenSpecs: new Set(
      (rows?.specs ?? [])
        .filter(({ path, digest }) => !existsSync(path) && existsSync(join(state, "specs", ".content", `${digest}.md`)))
        .map(({ taskId }) => taskId),
    ),
  };
}

function filesBelow(state: string, dir: string, now: number, depth: number): readonly SeenFile[] {
  const found = namesIn(join(state, dir)).flatMap((name) => seen(state, dir === "" ? name : `${dir}/${name}`, now));
  return found.flatMap((file) => {
    const deepest = depths[file.path.split("/")[0] ?? ""] ?? 0;
    const isOpen = file.kind === "directory" && depth <= deepest;
    return isOpen ? [file, ...filesBelow(state, file.path, now, depth + 1)] : [file];
  });
}

function seen(state: string, path: string, now: number): readonly SeenFile[] {
  const stat = lstatSync(join(state, path), { throwIfNoEntry: false });
  if (stat === undefined) return [];
  const kind = stat.isFile() ? "file" : stat.isDirectory() ? "directory" : stat.isSymbolicLink() ? "link" : "other";
  return [{ path, kind, mode: stat.mode & 0o777, ageMs: Math.max(0, now - stat.mtimeMs) }];
}

function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    // Others take files away while we look.
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return [];
    throw error;
  }
}

function namedProcess({ state }: ProjectPlace, name: string, now: number): NamedProcess {
  const path = join(state, name);
  const served = name === "run/engine.json" ? readNotice(path)?.place : undefined;
  const own = identityOf(state);
  const isElsewhere = served !== undefined && (served.device !== own?.device || served.inode !== own.inode);
  const changed = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
  return { path, process: readIdentity(path) ?? null, isElsewhere, ageMs: Math.max(0, now - changed) };
}

const turnIn = (path: string): string | null => textField(path, "turnId");
const checkoutIn = (path: string): string | null => textField(path, "checkout");

function textField(path: string, field: string): string | null {
  try {
    const value: unknown = JSON.parse(readText(path) ?? "null");
    const found = typeof value === "object" && value !== null ? Reflect.get(value, field) : undefined;
    return typeof found === "string" ? found : null;
  } catch (error) {
    if (error instanceof SyntaxError || errorCode(error) === "ENOENT") return null;
    throw error;
  }
}

/** The numbers of processes that stand in names of files and whose process is gone. */
function gonePids(names: readonly string[]): ReadonlySet<number> {
  const pids = names.flatMap((name) => {
    const found =
      /(?:view|files|link|unlink|ov-merge)-(\d+)-/.exec(name) ??
      /\.(\d+)\.[a-z0-9]{1,6}\.tmp$/.exec(name) ??
      /keeper\.lock\.(\d+)$/.exec(name);
    return found?.[1] === undefined ? [] : [Number(found[1])];
  });
  return new Set([...new Set(pids)].filter(isGone));
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return errorCode(error) === "ESRCH";
  }
}
