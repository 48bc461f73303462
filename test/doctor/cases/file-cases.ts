import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dead, old } from "../doctor.world.ts";
import type { Case } from "./planting.ts";

/** Files of the state directory. */
export const fileCases: readonly Case[] = [
  {
    name: "a state directory that others can read",
    finds: "open-to-others:state",
    make: (w) => chmodSync(w.state, 0o755),
  },
  {
    name: "a database that others can read",
    finds: "open-to-others:overstory.db",
    make: (w) => chmodSync(join(w.state, "overstory.db"), 0o644),
  },
  {
    name: "a directory of variables that others can read",
    finds: "open-to-others:run/env",
    make: (w) => {
      mkdirSync(join(w.state, "run", "env"), { recursive: true });
      chmodSync(join(w.state, "run", "env"), 0o755);
    },
  },
  {
    name: "the notice of an engine that is gone",
    finds: "file-of-gone-process:engine.json",
    make: (w) => w.file("run/engine.json", JSON.stringify(dead)),
  },
  {
    name: "the record of a successor that is gone",
    finds: "file-of-gone-process:successor.json",
    make: (w) => w.file("run/successor.json", JSON.stringify(dead)),
  },
  {
    name: "a lock of a starter that is gone",
    finds: "file-of-gone-process:keeper.lock",
    make: (w) => w.file("run/keeper.lock", JSON.stringify(dead)),
  },
  {
    name: "a half written record of a keeper",
    finds: "file-of-gone-process:keeper.json",
    make: (w) => w.file("run/keeper.json", '{"pid":'),
  },
  {
    name: "scratch files of a killed operation",
    finds: "scratch-of-killed-operation:run/git/view-4194303-abc",
    make: (w) => {
      const path = join(w.state, "run", "git", "view-4194303-abc");
      mkdirSync(path, { recursive: true });
      old(path);
    },
  },
  {
    name: "a half written file",
    finds: "half-written-file:run/config.json.4194303.abc123.tmp",
    make: (w) => w.file("run/config.json.4194303.abc123.tmp"),
  },
  {
    name: "a draft of a lock",
    finds: "half-written-file:run/keeper.lock.4194303",
    make: (w) => w.file("run/keeper.lock.4194303"),
  },
  {
    name: "half a copy of the database",
    finds: "half-copied-database:overstory.db.moving",
    make: (w) => w.file("overstory.db.moving"),
  },
  {
    name: "a mark in the trash of nothing",
    finds: "mark-of-no-trash:trash/x.work",
    make: (w) => w.file("trash/x.work"),
  },
  {
    name: "files of an agent that never was",
    finds: "files-of-no-agent:agents/ghost",
    make: (w) => {
      w.planted.add("PLANT.files");
      w.file("agents/ghost/notes.md", "PLANT.files\n");
    },
  },
  {
    name: "logs of an agent that never was",
    finds: "files-of-no-agent:logs/ghost",
    make: (w) => mkdirSync(join(w.state, "logs", "ghost"), { recursive: true }),
  },
  {
    name: "the body of no message",
    finds: "body-of-no-message:abc.txt",
    make: (w) => {
      w.planted.add("PLANT.body");
      w.file("mail-blobs/abc.txt", "PLANT.body\n");
    },
  },
  {
    name: "variables of nobody",
    finds: "variables-without-agent:env-x.json",
    make: (w) => w.file("run/env/env-x.json", "{}"),
  },
  {
    name: "a plan of a move that no move of ours made",
    finds: "foreign-move-plan:",
    make: (w) => w.file("run/git/moves/abc.json", JSON.stringify({ checkout: w.root })),
  },
  {
    name: "the record of another project",
    finds: "state-of-other-project:project.json",
    make: async (w) => {
      const record = JSON.parse(await Bun.file(join(w.state, "project.json")).text());
      writeFileSync(join(w.state, "project.json"), JSON.stringify({ ...record, id: "project-other" }), { mode: 0o600 });
    },
  },
  {
    name: "a specification that is not shown",
    finds: "specification-not-shown:T-spec",
    make: async (w) => {
      rmSync(join(w.root, ".overstory", "specs", "T-spec.md"));
    },
  },
];
