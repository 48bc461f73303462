/** The digest of each hook that the operator confirmed, by the path of its file. */
export type HookPins = Readonly<Record<string, string>>;

/** One hook that could veto a merge. */
export interface Hook {
  readonly name: string;
  readonly path: string;
  readonly digest: string;
  /** Found where the user's or the system's configuration says, not where the repository's does. */
  readonly isUsers: boolean;
}

/** Only these are ever run by us. */
export const isTrustedHook = ({ path, digest, isUsers }: Hook, pins: HookPins): boolean =>
  isUsers || pins[path] === digest;
