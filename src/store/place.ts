import type { Place } from "../ports/store/old-rows.ts";
import type { SqlValue } from "./sql.ts";

/** That a row comes before a place, for rows ordered by this column and then by id. Takes `valuesOf` the place. */
export const isBefore = (column: string): string => `(${column}, id) < (?, ?)`;

export const valuesOf = ({ at, id }: Place): readonly SqlValue[] => [at, id];
