import type { Call, Follow } from "../../usecases/operation.ts";

/** What the server asks of the program. Operations run as the operator, who logged in. Filled by `compose`. */
export interface WebApp {
  readonly version: string;
  /** The name of the project, for the title of the page. */
  readonly project: string;
  readonly call: Call;
  readonly follow: Follow;
  /** Changes whenever another process commits. */
  changeCounter(): Promise<number>;
  /** Another text after every commit, of this process and of others. */
  storeVersion(): Promise<string>;
  /** Tells of commits of this process. Answers how to stop it. */
  onCommit(listener: () => void): () => void;
  readonly ui: UiFiles;
  readonly clock: WebClock;
}

/** Time for the server: sockets are told that it lives, and lists are not looked at all the time. */
export interface WebClock {
  sleep(ms: number): Promise<void>;
  /** Works again and again; answers how to stop it. */
  every(ms: number, work: () => void): () => void;
}

/** A file of the page as it is sent. */
export interface UiFile {
  readonly bytes: Uint8Array;
  readonly type: string;
  /** Its name changes with its contents. */
  readonly immutable: boolean;
  /** The same, compressed, by the name of the encoding. */
  readonly encodings?: Readonly<Record<string, Uint8Array>>;
}

/** The files of the page by their path: `/index.html`, `/assets/..`. */
export interface UiFiles {
  get(path: string): Promise<UiFile | undefined>;
}
