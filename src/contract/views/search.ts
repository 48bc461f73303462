import type { Found } from "../../usecases/search/find.ts";
import { iso } from "../values.ts";

export const foundView = ({ kind, id, title, status, at }: Found) => ({ kind, id, title, status, at: iso(at) });
