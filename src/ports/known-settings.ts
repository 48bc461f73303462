/** The settings that decide what lands, as JSON by key. */
export type JudgingValues = Readonly<Record<string, string>>;

/** What the last engine of a project knew of them. */
export interface KnownSettings {
  /** Undefined when nothing is known: the settings in force count as known then. */
  read(): JudgingValues | undefined;
  /** A project may be deleted at any moment; its state directory is not made again. */
  write(values: JudgingValues): void;
}
