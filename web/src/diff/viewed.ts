import { useMemo } from "react";
import type { DiffFile } from "../api/types.ts";
import { createStore, useStore } from "../state/store.ts";

/** The content of a file that a person has viewed, by path. A file whose content differs from it was changed since. */
type Marks = Readonly<Record<string, string>>;

const place = "overstory.viewed";
/** More marks than a person makes in weeks; the oldest go first. */
const mostMarks = 2_000;

function stored(): Marks {
  try {
    return JSON.parse(localStorage.getItem(place) ?? "{}");
  } catch {
    // Marks are only a help for the eye.
    return {};
  }
}

const marks = createStore<Marks>(stored());

const contentOf = ({ newBlob, oldBlob }: DiffFile): string => newBlob ?? `-${oldBlob ?? ""}`;

export interface Viewed {
  readonly isViewed: (file: DiffFile) => boolean;
  /** It was viewed, and has another content now. */
  readonly hasChanged: (file: DiffFile) => boolean;
  readonly turn: (file: DiffFile) => void;
}

/** Which files of a diff were viewed. `scope` tells diffs apart in which files have the same paths. */
export function useViewed(scope: string): Viewed {
  const known = useStore(marks);
  return useMemo(() => {
    const key = ({ path }: DiffFile): string => `${scope}:${path}`;
    const isViewed = (file: DiffFile): boolean => known[key(file)] === contentOf(file);
    return {
      isViewed,
      hasChanged: (file) => known[key(file)] !== undefined && !isViewed(file),
      turn: (file) => {
        const { [key(file)]: _, ...rest } = known;
        const kept = Object.entries(rest).slice(-mostMarks);
        const next = Object.fromEntries(isViewed(file) ? kept : [...kept, [key(file), contentOf(file)]]);
        marks.set(next);
        localStorage.setItem(place, JSON.stringify(next));
      },
    };
  }, [known, scope]);
}
