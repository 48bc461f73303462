import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, oneOf, text } from "../../domain/schema/schema.ts";
import type { FilePlace } from "../../ports/project-files.ts";
import type { Effect } from "../operation.ts";

export interface NamedFile {
  readonly path: string;
  /** `typed`, which counts when absent: relative to where the command was typed. `project`: a file of the project itself. */
  readonly at?: FilePlace;
}

export interface ReadFile {
  /** The path as other processes can use it. */
  readonly path: string;
  /** Undefined when there is no such file. */
  readonly text: string | undefined;
}

const filePlace = oneOf(["typed", "project"]);

/** The text of a file that the caller named. */
export const readFile: Effect<NamedFile, ReadFile> = {
  kind: "effect",
  request: fields({ path: text }, { at: filePlace }),
  place: "caller",
  run: async (world, { path, at = "typed" }) => {
    const files = await world.textFiles();
    const place = await files.locate(path, at);
    const read = files.read(place);
    if (!read.ok) return no(invalid("file", `cannot be read (${read.refusal})`, { value: place }));
    return ok({ path: place, text: read.value });
  },
};

/** Writes a file that the caller named. Refused to an agent where its role may not write. */
export const writeFile: Effect<NamedFile & { readonly text: string }, { readonly path: string }> = {
  kind: "effect",
  request: fields({ path: text, text }, { at: filePlace }),
  place: "caller",
  run: async (world, { path, at = "typed", text: content }) => {
    const files = await world.textFiles();
    const place = await files.realPath(await files.locate(path, at));
    const allowed = await world.call("identity.mayWrite", { path: place });
    if (!allowed.ok) return allowed;
    // The program makes missing directories of the project itself. A missing directory in a typed path is likely a typo.
    if (at === "typed" && !files.hasDirectory(place))
      return no(invalid("file", "is in a directory that does not exist", { value: place }));
    files.write(place, content);
    return ok({ path: place });
  },
};
