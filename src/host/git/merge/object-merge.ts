import type { Conflict, ConflictKind, PathVersion } from "../../../domain/merge/ladder.ts";
import type { ObjectMerge } from "../../../ports/merge-git.ts";
import { type GitAnswer, zeroEnded } from "../git.ts";
import { canUnbuffer } from "../git-session.ts";
import type { OwnQuestions } from "../own-dir.ts";
import { type AttributeSet, type Attributes, none } from "./attributes.ts";
import type { MergeRepository } from "./merge-repository.ts";
import { endsOfHistory, shallowAdvice, shallowWords } from "./sound-objects.ts";

export interface Pair {
  readonly ours: string;
  readonly theirs: string;
  /** Where `ours` is a stand-in: the commit whose attributes count. */
  readonly attributesOf?: string;
}

type Environment = Readonly<Record<string, string>>;

interface MergerOptions {
  /** There will be many merges: a process of git stays for the next one. */
  readonly stays?: boolean;
}

export interface ObjectMerger {
  /** Starts the process that stays. */
  start(): Promise<void>;
  merge(pair: Pair, env?: Environment): Promise<ObjectMerge>;
  mergePairs(pairs: readonly Pair[]): Promise<readonly ObjectMerge[]>;
}

/**
 * Merges through `merge-tree`. Attributes have a say only where both sides changed one file, which git reports; so a
 * merge runs with the attributes that counted last, and only one that used them is compared with those of its own
 * commit, and done again if they differ.
 */
export function objectMerger(
  mergeRepo: MergeRepository,
  attributes: Attributes,
  { stays = false }: MergerOptions = {},
): ObjectMerger {
  let likely: AttributeSet = none;
  const staying = stays && canUnbuffer() ? stayingMerges(mergeRepo) : undefined;

  /** The set that the merge should have used; the one it did use where that made no difference. */
  const rightSet = async (pair: Pair, used: AttributeSet, output: MergeOutput): Promise<AttributeSet> => {
    if (!usedAttributes(output)) return used;
    const right = await attributes.of(pair.attributesOf ?? pair.ours);
    likely = right;
    return right;
  };

  const mergeWith = async (used: AttributeSet, pair: Pair, env: Environment): Promise<ObjectMerge> => {
    const workTree = attributes.workTree(used);
    const asked = Object.keys(env).length === 0 ? await staying?.ask(workTree, pair) : undefined;
    const { answer, output } = asked ?? (await mergeOnce(mergeRepo, workTree, pair, env));
    if (output === undefined) return await explain(mergeRepo, pair, answer, env);
    const right = await rightSet(pair, used, output);
    return right === used ? resultOf(answer.code === 0, output, pair) : await mergeWith(right, pair, env);
  };

  const mergePairs = async (pairs: readonly Pair[]): Promise<readonly ObjectMerge[]> => {
    const results: ObjectMerge[] = [];
    while (results.length < pairs.length) {
      const rest = pairs.slice(results.length);
      const used = likely;
      for (const [at, { clean, ...output }] of (
        await mergeMany(mergeRepo, attributes.workTree(used), rest)
      ).entries()) {
        const pair = rest[at];
        if (pair === undefined) break;
        const right = await rightSet(pair, used, output);
        results.push(right === used ? resultOf(clean, output, pair) : await mergeWith(right, pair, {}));
      }
      // Git gives up at the first pair that cannot be merged at all; alone it says why.
      const culprit = pairs[results.length];
      if (culprit !== undefined) results.push(await mergeWith(likely, culprit, {}));
    }
    return results;
  };

  const start = async (): Promise<void> => staying?.start(attributes.workTree(likely));
  return { start, merge: (pair, env = {}) => mergeWith(likely, pair, env), mergePairs };
}

const mergeTree = ["-c", "merge.verbosity=5", "merge-tree", "--write-tree", "-z", "--messages"];

interface Once {
  readonly answer: Pick<GitAnswer, "code" | "err">;
  /** Undefined when there is no result of any kind. */
  readonly output: MergeOutput | undefined;
}

async function mergeOnce(
  mergeRepo: MergeRepository,
  workTree: string,
  { ours, theirs }: Pair,
  env: Environment,
): Promise<Once> {
  const args = ["-C", workTree, ...mergeTree, "--end-of-options", ours, theirs];
  const answer = await mergeRepo.through((own) => own.git(args, { env: { ...env, GIT_WORK_TREE: workTree } }));
  return { answer, output: answer.code === 0 || answer.code === 1 ? readMerge(answer.raw) : undefined };
}

/**
 * Merges by a process that stays for the next merge. It need not start, and knows the history that it has read before.
 * Undefined where that process has given no whole answer; then a process for this one merge has to be asked.
 */
function stayingMerges(mergeRepo: MergeRepository): StayingMerges {
  let hasAnswered = false;
  let isSilent = false;
  const commandIn = (workTree: string): OwnQuestions => {
    const args = ["-C", workTree, `--work-tree=${workTree}`, ...mergeTree, "--stdin"];
    return { args, unbuffered: true, limitMs: patienceMs };
  };
  const ask: StayingMerges["ask"] = async (workTree, { ours, theirs }) => {
    if (isSilent || !isId(ours) || !isId(theirs)) return undefined;
    const began = performance.now();
    const raw = await mergeRepo.through((own) => own.ask(commandIn(workTree), `${ours} ${theirs}\n`, isRecord));
    if (raw === undefined) {
      isSilent = !hasAnswered && performance.now() - began >= patienceMs;
      return undefined;
    }
    hasAnswered = true;
    const [record, ...others] = readBatch(raw);
    if (record === undefined || others.length > 0) return undefined;
    const { clean, ...output } = record;
    return { answer: { code: clean ? 0 : 1, err: "" }, output };
  };
  return { ask, start: (workTree) => mergeRepo.through(async (own) => own.start(commandIn(workTree))) };
}

interface StayingMerges {
  start(workTree: string): Promise<void>;
  ask(workTree: string, pair: Pair): Promise<Once | undefined>;
}

const isId = (name: string): boolean => /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(name);

/**
 * After this time a process of its own is asked. If git cannot be made to answer at once, this is the only merge that
 * waits for it; a merge that takes longer loses no more than this.
 */
const patienceMs = 2_000;

/** Is this all that git prints for one pair? It ends with an empty field, or with advice about submodules. */
function isRecord(raw: Buffer): boolean {
  const mayEnd = raw.at(-1) === 0 && (raw.at(-2) === 0 || raw.subarray(-adviceEnd.length).equals(adviceEnd));
  if (!mayEnd) return false;
  const fields = new Fields(raw);
  fields.next();
  readRecord(fields);
  return fields.hasRead();
}

const adviceEnd = Buffer.from("superproject\n\0");

async function mergeMany(
  mergeRepo: MergeRepository,
  workTree: string,
  pairs: readonly Pair[],
): Promise<ReturnType<typeof readBatch>> {
  const stdin = pairs.map(({ ours, theirs }) => `${ours} ${theirs}\n`).join("");
  const args = ["-C", workTree, ...mergeTree, "--stdin"];
  const answer = await mergeRepo.through((own) => own.git(args, { stdin, env: { GIT_WORK_TREE: workTree } }));
  return readBatch(answer.raw);
}

/** Also said of merges between several common ancestors, at this verbosity. */
const usedAttributes = ({ notes }: MergeOutput): boolean =>
  notes.some(({ kind }) => kind === "Auto-merging" || kind === "CONFLICT (contents)" || kind === "CONFLICT (binary)");

function resultOf(clean: boolean, output: MergeOutput, { ours, theirs }: Pair): ObjectMerge {
  const { tree } = output;
  if (clean) return { kind: "clean", tree };
  const conflicts = conflictsIn(output, [ours, theirs]);
  if (conflicts.length === 0) return { kind: "failed", problem: "git reports conflicts but names none" };
  return { kind: "conflicts", tree, conflicts };
}

async function explain(
  mergeRepo: MergeRepository,
  { ours, theirs }: Pair,
  { err, code }: Once["answer"],
  env: Environment,
): Promise<ObjectMerge> {
  const { base, isShallow } = await mergeRepo.through(async (own) => ({
    base: await own.git(["merge-base", "--end-of-options", ours, theirs], { env }),
    isShallow: endsOfHistory(own).size > 0,
  }));
  if (base.code === 1 && base.out === "") {
    if (!isShallow) return { kind: "unrelated" };
    return { kind: "failed", problem: `${shallowWords} before a commit that both sides have; ${shallowAdvice}` };
  }
  return { kind: "failed", problem: err.trim() === "" ? `git merge-tree exited ${code}` : err.trim() };
}

/** One version of a path in a conflict, as `merge-tree` lists it. */
interface Stage {
  readonly mode: string;
  readonly oid: string;
  readonly stage: string;
  readonly path: Buffer;
}

/** What git says about some paths; `kind` is one of its fixed words. */
interface MergeNote {
  readonly paths: readonly Buffer[];
  readonly kind: string;
  readonly text: string;
}

interface MergeOutput {
  readonly tree: string;
  readonly stages: readonly Stage[];
  readonly notes: readonly MergeNote[];
}

/** Reads what `merge-tree -z --messages` prints for one pair. */
const readMerge = (raw: Buffer): MergeOutput => readRecord(new Fields(raw));

interface BatchRecord extends MergeOutput {
  readonly clean: boolean;
}

/** Reads what `merge-tree -z --messages --stdin` prints; fewer records than pairs when it gave up at one of them. */
function readBatch(raw: Buffer): readonly BatchRecord[] {
  const fields = new Fields(raw);
  const records: BatchRecord[] = [];
  while (!fields.atEnd()) records.push({ clean: fields.next().toString() === "1", ...readRecord(fields) });
  return records;
}

class Fields {
  readonly #fields: readonly Buffer[];
  #at = 0;

  constructor(raw: Buffer) {
    this.#fields = zeroEnded(raw);
  }

  next(): Buffer {
    return this.#fields[this.#at++] ?? nothing;
  }

  atEnd(): boolean {
    return this.#at >= this.#fields.length;
  }

  /** All of them were read, and none that is not there. */
  hasRead(): boolean {
    return this.#at === this.#fields.length;
  }
}

const nothing = Buffer.alloc(0);

function readRecord(fields: Fields): MergeOutput {
  const tree = fields.next().toString();
  const stages: Stage[] = [];
  for (let field = fields.next(); field.length > 0; field = fields.next()) stages.push(readStage(field));
  const notes: MergeNote[] = [];
  for (;;) {
    // Nothing more ends a record, and so does advice about submodules, which git prints without counting its paths.
    const count = fields.next().toString();
    if (!/^\d+$/.test(count)) return { tree, stages, notes };
    const paths = Array.from({ length: Number(count) }, () => fields.next());
    notes.push({ paths, kind: fields.next().toString(), text: fields.next().toString().trim() });
  }
}

function readStage(field: Buffer): Stage {
  const tab = field.indexOf(tabByte);
  const [mode = "", oid = "", stage = ""] = field.toString("latin1", 0, tab).split(" ");
  return { mode, oid, stage, path: field.subarray(tab + 1) };
}

const tabByte = 0x09;

/** The conflicts of a merge, one per path as a person knows it, each with the kind that decides who may settle it. */
function conflictsIn(output: MergeOutput, sides: readonly string[]): readonly Conflict[] {
  const notes = output.notes.filter(isConflict);
  const found = new Map<string, Found>();
  const at = (path: Buffer): Found => {
    const plain = plainPath(path, notes, sides);
    const key = plain.toString("latin1");
    const known = found.get(key) ?? { path: plain, base: null, ours: null, theirs: null, notes: new Set() };
    found.set(key, known);
    return known;
  };
  for (const { path, stage, mode, oid } of output.stages) {
    const entry = at(path);
    entry[sideOf(stage)] ??= { mode, oid };
    for (const note of notes) if (note.paths.some((other) => other.equals(path))) entry.notes.add(note);
  }
  // Some conflicts, as about renamed directories, leave no versions behind.
  const told = new Set([...found.values()].flatMap((entry) => [...entry.notes]));
  for (const note of notes) if (!told.has(note) && note.paths[0] !== undefined) at(note.paths[0]).notes.add(note);
  return [...found.values()].map(conflictOf);
}

interface Found {
  readonly path: Buffer;
  base: PathVersion | null;
  ours: PathVersion | null;
  theirs: PathVersion | null;
  readonly notes: Set<MergeNote>;
}

/** Git writes some of its words without the space. Those of an inner merge are about a base, not about the result. */
const isConflict = ({ kind, text }: MergeNote): boolean => /^(CONFLICT|ERROR)/.test(kind) && !isInner(text);
const isInner = (text: string): boolean => text.startsWith("From inner merge:");

const sideOf = (stage: string): "base" | "ours" | "theirs" =>
  stage === "1" ? "base" : stage === "2" ? "ours" : "theirs";

/** Where two things want one path, git puts a file at `path~commit`; the path itself is what it is about. */
function plainPath(path: Buffer, notes: readonly MergeNote[], sides: readonly string[]): Buffer {
  const text = path.toString("latin1");
  const side = sides.find((name) => new RegExp(`~${name}(_\\d+)?$`).test(text));
  if (side === undefined) return path;
  const plain = Buffer.from(text.slice(0, text.lastIndexOf(`~${side}`)), "latin1");
  const isNamed = notes.some(({ paths }) => [path, plain].every((one) => paths.some((other) => other.equals(one))));
  return isNamed ? plain : path;
}

function conflictOf({ path, base, ours, theirs, notes }: Found): Conflict {
  const versions = [base, ours, theirs].filter((version) => version !== null);
  const kind = isText(path)
    ? kindOf({ base, ours, theirs, versions, words: [...notes].map((note) => note.kind) })
    : "other";
  return { path: path.toString(), kind, base, ours, theirs, message: [...notes].map(({ text }) => text).join("\n") };
}

/** A file name that is not valid text would not survive its way through a resolver. */
const isText = (path: Buffer): boolean => Buffer.from(path.toString()).equals(path);

interface Facts {
  readonly base: PathVersion | null;
  readonly ours: PathVersion | null;
  readonly theirs: PathVersion | null;
  readonly versions: readonly PathVersion[];
  readonly words: readonly string[];
}

/** The first that applies: a file that was renamed as well as edited is not a matter of its lines alone. */
function kindOf({ base, ours, theirs, versions, words }: Facts): ConflictKind {
  const says = (pattern: RegExp): boolean => words.some((word) => pattern.test(word));
  const has = (mode: string): boolean => versions.some((version) => version.mode === mode);
  if (says(/submodule/) || has("160000")) return "submodule";
  if (says(/rename/)) return "rename";
  if (says(/file\/directory/)) return "file-directory";
  if (says(/modify\/delete/)) return "modify-delete";
  if (says(/distinct modes/)) return "mode";
  if (has("120000")) return "symlink";
  if (says(/binary/)) return "binary";
  if (!says(/contents/) || ours === null || theirs === null) return "other";
  if (base !== null) return "content";
  return ours.mode === theirs.mode ? "add-add" : "mode";
}
