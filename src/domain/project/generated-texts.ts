import { renderManifest } from "../role/render/manifest.ts";
import { orchestratorGuide } from "./guide.ts";
import { type Digest, sealed, sealWord } from "./seal.ts";
import { ignoreText, readmeText } from "./texts.ts";

/** The files in `.overstory/` that come from the program, each by the name an update reports it under. */
export const generatedNames = {
  gitignore: ".gitignore",
  readme: "README.md",
  manifest: "agent-manifest.json",
} as const;
export type GeneratedFile = keyof typeof generatedNames;

/** Their texts, sealed. */
export const generatedFiles = (digest: Digest): Readonly<Record<GeneratedFile, string>> => ({
  gitignore: sealed(ignoreText, digest),
  readme: sealed(readmeText, digest),
  // Readers of JSON overlook keys they do not know, and this one has the name for remarks.
  manifest: sealed(`${JSON.stringify({ $comment: sealWord, ...renderManifest() }, null, 2)}\n`, digest),
});

/** The section of the instruction file, sealed. */
export const sealedGuide = (digest: Digest): string => sealed(`<!-- ${sealWord} -->\n${orchestratorGuide}`, digest);
