import { sentView } from "../../views/mail.ts";
import { entryView } from "../../views/merge.ts";
import { reviewableView, reviewDetailView } from "../../views/review.ts";
import { change, listOf, read } from "../route.ts";

/** Addresses of work that is ready to be looked at. */
export const reviewsRoutes = {
  "GET /api/reviews": read("review.list", ({ reviews }) => listOf(reviews.map(reviewableView))),
  "GET /api/reviews/:name": read("review.show", reviewDetailView),
  "POST /api/reviews/:name": change("review.submit", sentView, { defaults: { summary: "", findings: [] } }),
  "POST /api/reviews/:name/accept": change("review.accept", ({ entry }) => ({ entry: entryView(entry) })),
} as const;
