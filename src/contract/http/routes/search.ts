import { foundView } from "../../views/search.ts";
import { listOf, read } from "../route.ts";

/** The address of the search over everything. */
export const searchRoutes = {
  "GET /api/search": read("search.find", ({ found }) => listOf(found.map(foundView)), { defaults: { limit: 20 } }),
} as const;
