import { zeroEnded } from "../git.ts";

/** One version of a path in a conflict, as `merge-tree` lists it. */
export interface Stage {
  readonly mode: string;
  readonly oid: string;
  readonly stage: string;
  readonly path: Buffer;
}

/** What git says about some paths; `kind` is one of its fixed words. */
export interface MergeNote {
  readonly paths: readonly Buffer[];
  readonly kind: string;
  readonly text: string;
}

export interface MergeOutput {
  readonly tree: string;
  readonly stages: readonly Stage[];
  readonly notes: readonly MergeNote[];
}

/** Reads what `merge-tree -z --messages` prints for one pair. */
export const readMerge = (raw: Buffer): MergeOutput => readRecord(new Fields(raw));

export interface BatchRecord extends MergeOutput {
  readonly clean: boolean;
}

/** Reads what `merge-tree -z --messages --stdin` prints; fewer records than pairs when it gave up at one of them. */
export function readBatch(raw: Buffer): readonly BatchRecord[] {
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
