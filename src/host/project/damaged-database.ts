import { mkdirSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { ProjectPlace } from "../../domain/project/place.ts";
import { freshPath, openTrash, trashName } from "../git/work/trash.ts";
import { databaseIn } from "../project-place.ts";

/**
 * Moves the database with its log to the trash, where it stays until a person deletes it. Answers its path there, from the
 * root. The log goes first: a database without its log is whole, a log beside another database is not.
 */
export function putDatabaseAside({ root, state }: ProjectPlace, now: number): string {
  const path = databaseIn(state);
  const home = join(state, "trash");
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const entry = freshPath(join(home, trashName("damaged-database", now)));
  const trash = openTrash(entry);
  for (const end of ["-journal", "-wal", "-shm", ""]) trash.take(dirname(path), basename(path) + end, "work");
  return relative(root, join(entry, basename(path)));
}
