import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CommitRequest } from "../../../ports/merge-git.ts";
import { objectHasher, type Repository } from "../repository.ts";

export interface CommitOf extends CommitRequest {
  readonly name: string;
  readonly email: string;
  readonly at: Date;
}

/**
 * Writes a commit as git's `commit-tree` would, without a process: in a train there is one such commit for each branch,
 * and starting git for it takes longer than everything else we add to a merge. Undefined where git would do more than
 * write down what it is given; then git itself has to be asked.
 */
export function writeLooseCommit(repository: Repository, commit: CommitOf): string | undefined {
  const { tree, parents, message, name, email } = commit;
  const plain = isPlainIdent(name) && isPlainIdent(email) && !message.includes("\0");
  if (!plain || ![tree, ...parents].every(isObjectId) || new Set(parents).size !== parents.length) return undefined;
  if (isShared(repository.objects)) return undefined;
  const who = `${name} <${email}> ${Math.floor(commit.at.getTime() / 1000)} ${zoneOf(commit.at)}`;
  const { author } = commit;
  const isPlainAuthor = author === undefined || (isPlainIdent(author.name) && isPlainIdent(author.email));
  if (!isPlainAuthor || !/^\d+ [+-]\d{4}$/.test(author?.at ?? "0 +0000")) return undefined;
  const by = author === undefined ? who : `${author.name} <${author.email}> ${author.at}`;
  const head = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`), `author ${by}`, `committer ${who}`];
  const body = Buffer.from(`${head.join("\n")}\n\n${message}`);
  const object: Buffer<ArrayBuffer> = Buffer.concat([Buffer.from(`commit ${body.length}\0`), body]);
  const oid = objectHasher(repository.objectFormat).update(object).digest("hex");
  store(repository.objects, oid, object);
  return oid;
}

/** Git takes away control characters, angle brackets and what surrounds a name; one that has none of it stays as it is. */
const isPlainIdent = (text: string): boolean =>
  /^[\p{L}\p{N}](?:[^\p{Cc}<>]*[\p{L}\p{N}])?$/u.test(text) && text.isWellFormed();

const isObjectId = (text: string): boolean => /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text);

/** In a repository for several users git gives each new file to their group. */
const isShared = (objects: string): boolean => (statSync(objects).mode & 0o2000) !== 0;

function zoneOf(at: Date): string {
  const east = -at.getTimezoneOffset();
  const [hours, minutes] = [Math.floor(Math.abs(east) / 60), Math.abs(east) % 60];
  return `${east < 0 ? "-" : "+"}${String(hours).padStart(2, "0")}${String(minutes).padStart(2, "0")}`;
}

/** Under a name that git's own housekeeping knows and removes, and then moved to its place in one step. */
function store(objects: string, oid: string, object: Buffer<ArrayBuffer>): void {
  const dir = join(objects, oid.slice(0, 2));
  const place = join(dir, oid.slice(2));
  if (existsSync(place)) return;
  mkdirSync(dir, { recursive: true });
  const aside = join(dir, `tmp_obj_${Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString("hex")}`);
  try {
    writeFileSync(aside, compressed(object), { mode: 0o444, flag: "wx" });
    renameSync(aside, place);
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  }
}

/**
 * As zlib compresses at its fastest level: two bytes that say so, the compressed bytes and a checksum. The platform's
 * module for it takes longer to load than everything else that an engine loads to land a branch.
 */
function compressed(bytes: Buffer<ArrayBuffer>): Buffer {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(Bun.hash.adler32(bytes));
  return Buffer.concat([Buffer.of(0x78, 0x01), Bun.deflateSync(bytes, { level: 1 }), checksum]);
}
