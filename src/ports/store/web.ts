import type { ProcessIdentity } from "../../domain/process/process.ts";
import type { WebKey, WebRole } from "../../domain/web/web-key.ts";

/** The wish that the engine listens for browsers, and how far it has come. */
export interface WebListener {
  readonly host: string;
  readonly port: number;
  /** Another port will not do. */
  readonly strictPort: boolean;
  /** The engine listens for as long as this process lives; null: until it is told to stop. */
  readonly owner: ProcessIdentity | null;
  /** The port that the engine listens on; null while it does not. */
  readonly boundPort: number | null;
  /** Why the engine could not listen. */
  readonly problem: string | null;
  readonly askedAt: number;
}

/** The marks that the operator put on something: seen, or put off. */
export interface OperatorMark {
  /** The marked subject: `attention:<id>` or `mail:<id>`. */
  readonly subject: string;
  readonly seenAt: number | null;
  /** Not shown before; null: not put off. */
  readonly snoozedUntil: number | null;
  /** The text of the item when the operator put it off until it changes. */
  readonly seenAs: string | null;
}

/** The tables of the web server. */
export interface WebRows {
  listener(): Promise<WebListener | undefined>;
  /** Replaces an earlier wish. */
  setListener(listener: WebListener): Promise<void>;
  dropListener(): Promise<void>;
  addKey(key: WebKey): Promise<void>;
  /** The key with this digest, however old it is. */
  key(digest: string): Promise<WebKey | undefined>;
  /** All keys that count at this moment, oldest first. */
  keys(now: number): Promise<WebKey[]>;
  noteUse(id: string, now: number): Promise<void>;
  /** Deletes the key. False when it was gone already: two callers cannot both use a code. */
  dropKey(digest: string): Promise<boolean>;
  dropKeysOf(role: WebRole | undefined, id: string | undefined): Promise<number>;
  dropExpired(now: number): Promise<void>;
  marks(prefix: string): Promise<OperatorMark[]>;
  setMark(mark: OperatorMark): Promise<void>;
}
