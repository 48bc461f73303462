import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { old } from "../doctor.world.ts";
import { type Case, plantFile, worktree } from "./planting.ts";

/** Worktrees, checkouts of gates, git's records and locks. */
export const placeCases: readonly Case[] = [
  {
    name: "a live agent without its worktree",
    finds: "agent-without-worktree:waits",
    make: (w) => rmSync(worktree(w, "waits"), { recursive: true }),
  },
  {
    name: "a directory in the place of a worktree",
    finds: "worktree-replaced:waits2",
    make: (w) => {
      renameSync(worktree(w, "waits2"), join(w.project.home, "moved"));
      plantFile(w, worktree(w, "waits2"), "PLANT.stand-in");
    },
  },
  {
    name: "a worktree without its link",
    finds: "worktree-without-link:hands2",
    make: (w) => rmSync(join(worktree(w, "hands2"), ".git")),
  },
  {
    name: "a worktree of no agent",
    finds: "worktree-without-agent:stray",
    make: async (w) => {
      await w.git("worktree", "add", "--quiet", "-b", "overstory/stray/x", worktree(w, "stray"));
      plantFile(w, worktree(w, "stray"), "PLANT.stray");
    },
  },
  {
    name: "a worktree of no agent whose index git cannot read",
    finds: "unreadable-worktree:stray2/index",
    make: async (w) => {
      await w.git("worktree", "add", "--quiet", "-b", "overstory/stray2/x", worktree(w, "stray2"));
      writeFileSync(join(worktree(w, "stray2"), "kept.txt"), "PLANT.stray2\n");
      w.planted.add("PLANT.stray2");
      writeFileSync(join(w.root, ".git", "worktrees", "stray2", "index"), "DIRC and no more");
    },
  },
  {
    name: "a directory of no agent",
    finds: "directory-without-agent:lost",
    make: (w) => plantFile(w, worktree(w, "lost"), "PLANT.directory"),
  },
  {
    name: "a file among the worktrees",
    finds: "directory-without-agent:note",
    make: (w) => writeFileSync(worktree(w, "note"), ""),
  },
  {
    name: "a worktree that was half removed",
    finds: "half-made-worktree:.x.removing",
    make: (w) => plantFile(w, worktree(w, ".x.removing"), "PLANT.removing"),
  },
  {
    name: "a worktree that was half made",
    finds: "half-made-worktree:.y.preparing",
    make: (w) => plantFile(w, worktree(w, ".y.preparing"), "PLANT.preparing"),
  },
  {
    name: "git's record of a worktree that is gone",
    finds: "record-of-no-worktree:",
    make: async (w) => {
      const path = worktree(w, "vanished");
      await w.git("worktree", "add", "--quiet", "--detach", path);
      w.planted.add("PLANT.vanished");
      writeFileSync(join(path, "v.txt"), "PLANT.vanished\n");
      await w.git("-C", path, "add", "v.txt");
      await w.git("-C", path, "commit", "--quiet", "-m", "vanished");
      rmSync(path, { recursive: true });
    },
  },
  {
    name: "a checkout of gates that is none",
    finds: "gate-place-broken:7",
    make: (w) => mkdirSync(join(w.root, ".overstory", "merge-worktrees", "7"), { recursive: true }),
  },
  {
    name: "git's record of a checkout of gates that is gone",
    finds: (w) => `record-of-no-worktree:${join(w.root, ".overstory", "merge-worktrees", "8")}`,
    make: async (w) => {
      const path = join(w.root, ".overstory", "merge-worktrees", "8");
      await w.git("worktree", "add", "--quiet", "--detach", path);
      rmSync(path, { recursive: true });
    },
  },
  {
    name: "a lock of the index that nobody holds",
    finds: "stale-git-lock:",
    make: (w) => {
      writeFileSync(join(w.root, ".git", "index.lock"), "");
      old(join(w.root, ".git", "index.lock"));
    },
  },
  {
    name: "a lock of an agent's index that nobody holds",
    finds: (w) => `stale-git-lock:${join(w.root, ".git", "worktrees", "hands", "index.lock")}`,
    make: (w) => {
      const path = join(w.root, ".git", "worktrees", "hands", "index.lock");
      writeFileSync(path, "");
      old(path);
    },
  },
  {
    name: "a lock of a ref that nobody holds",
    finds: (w) => `stale-git-lock:${join(w.root, ".git", "refs", "overstory", "x.lock")}`,
    make: (w) => {
      const path = join(w.root, ".git", "refs", "overstory", "x.lock");
      mkdirSync(join(path, ".."), { recursive: true });
      writeFileSync(path, "");
      old(path);
    },
  },
];
