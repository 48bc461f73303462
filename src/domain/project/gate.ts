/** What a command checks. The kind decides the gate's name, so that the same check is found once. */
export const gateKinds = ["tests", "lint", "types", "checks", "build"] as const;
export type GateKind = (typeof gateKinds)[number];

/** A sign in the project that a command would check something. */
export interface FoundCheck {
  readonly kind: GateKind;
  readonly command: string;
  /** The file that says so. */
  readonly from: string;
}

/** A quality gate as it would stand in the configuration, with the file it was read from. */
export interface DetectedGate {
  readonly name: string;
  readonly command: string;
  readonly description: string;
  readonly from: string;
}

/** Texts of files at the top of the project, by file name. A file that only has to exist may be empty. */
export type ProjectTexts = ReadonlyMap<string, string>;
