import { chmodSync, existsSync, lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { ProjectPlace } from "../../domain/project/place.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ProjectRepairs } from "../../ports/project-survey.ts";
import { finishMoves } from "../git/checkout-move/move-checkout.ts";
import { expectGit, git } from "../git/git.ts";
import { adminDirOf } from "../git/places.ts";
import { askEachRef, dropRef, firstFreeRef, newRef } from "../git/refs.ts";
import { gitProject, openRepository } from "../git/repository.ts";
import { freshPath, openTrash, trashName, workMark } from "../git/work/trash.ts";
import { listEntries } from "../git/worktree/list.ts";
import { isUnreadable } from "./survey.ts";

export interface RepairTerms {
  readonly place: ProjectPlace;
  readonly clock: Clock;
  readonly rebuildDatabase: (stamp: string) => string;
}

/** The repairs of one project. What goes to the trash is marked as work, so that it stays until a person deletes it. */
export function projectRepairs({ place, clock, rebuildDatabase }: RepairTerms): ProjectRepairs {
  const repository = openRepository(place.root);
  const project = async () => gitProject(await repository(), { state: place.state });
  const trash = (path: string): string | undefined => {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
    const home = join(place.state, "trash");
    mkdirSync(home, { recursive: true, mode: 0o700 });
    const entry = freshPath(join(home, trashName(`doctor-${basename(path).replace(/^\.+/, "")}`, clock.now())));
    openTrash(entry).take(dirname(path), basename(path), "work");
    return join(entry, basename(path));
  };
  return {
    trash,
    delete: (path) => rmSync(path, { force: true }),
    setMode: (path, mode) => {
      if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === false) chmodSync(path, mode);
    },
    retire: async (ref, commit) => {
      const over = await project();
      const checkout = (await listEntries(over)).find(({ branch }) => branch === ref);
      // Without its branch a checkout would have no commit, and all its files would count as new.
      if (checkout !== undefined)
        throw new Error(`it is checked out at ${checkout.path}; switch to another branch there`);
      const format = ["--format=%(refname)", `--contains=${commit}`];
      const holders = await askEachRef(place.root, format, ["refs/heads/", "refs/tags/", "refs/remotes/"]);
      const isHeld = holders.some((holder) => holder !== ref);
      const name = ref.replace(/^refs\/(heads\/)?(overstory\/)?/, "").replaceAll("/", "-");
      const nameOf = (at: number): string => `refs/overstory/rescue/${name}-0${at === 0 ? "" : `-${at + 1}`}`;
      const kept = isHeld ? null : await firstFreeRef(over, commit, nameOf);
      await dropRef(over, ref, commit);
      return kept;
    },
    dropRef: async (ref, commit) => {
      const home = join(place.state, "trash");
      mkdirSync(home, { recursive: true, mode: 0o700 });
      const file = freshPath(join(home, trashName(`doctor-${basename(ref)}`, clock.now())));
      writeFileSync(file, `${commit} ${ref}\n`, { mode: 0o600 });
      writeFileSync(`${file}${workMark}`, "");
      expectGit(await git(place.root, "update-ref", "--no-deref", "-d", ref), `deleting ${ref}`);
      return file;
    },
    restore: async (ref, commit) => {
      const file = join((await repository()).commonDir, ref);
      if (isUnreadable(file)) trash(file);
      return newRef(await project(), ref, commit);
    },
    recheck: async ({ kind, path }, branch) => {
      const moved = trash(path);
      if (kind === "head") writeFileSync(path, `ref: refs/heads/${branch}\n`, { flag: "wx" });
      // Git would take files without an index for deleted ones.
      else
        expectGit(
          await git(place.root, `--git-dir=${dirname(path)}`, "read-tree", "HEAD"),
          `reading HEAD into ${path}`,
        );
      return moved;
    },
    prune: async (path) => {
      const admin = adminDirOf(await repository(), path);
      if (admin !== undefined && !existsSync(path)) trash(admin);
    },
    finishMoves: async () => {
      const { scratch, repository: of } = await project();
      await finishMoves({ scratch, commonDir: of.commonDir });
    },
    rebuildDatabase: () => rebuildDatabase(new Date(clock.now()).toISOString().replace(/[:.]/g, "-")),
  };
}
