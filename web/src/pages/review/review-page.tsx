import { useParams } from "@tanstack/react-router";
import { OneReview } from "./one-review.tsx";
import { ReviewList } from "./review-list.tsx";

/** What is ready to be looked at, or the work of one agent. */
export default function ReviewPage() {
  const { agent } = useParams({ strict: false }) as { agent?: string };
  return agent === undefined ? <ReviewList /> : <OneReview key={agent} name={agent} />;
}
