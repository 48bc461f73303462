/** The files of the page as a browser gets them. */
export interface UiFiles {
  /** By its path from the root: `/assets/main-1a2b.js`. */
  get(path: string): UiFile | undefined;
}

/** The page during development: built anew whenever its sources change. */
export interface UiSources extends UiFiles {
  /**
   * Calls the listener after each build, with the problem of the sources if there is one. The returned function ends
   * the calls.
   */
  onChange(listener: (problem: string | undefined) => void): () => void;
  close(): Promise<void>;
}

export interface UiFile {
  readonly bytes: Uint8Array;
  readonly type: string;
  /** Its name holds the hash of its content, so a browser may keep it for ever. */
  readonly immutable: boolean;
  /** The same, compressed. */
  readonly encodings: { readonly gzip?: Uint8Array; readonly br?: Uint8Array };
}

/** In `/index.html` this stands where the nonce of each response belongs. */
export const nonceMark = "__NONCE__";
