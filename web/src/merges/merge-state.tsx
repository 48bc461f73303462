import { LookMark } from "../ui/look.tsx";
import { mergeLook } from "./merge-look.ts";

export const MergeMark = ({ merge }: { merge: Parameters<typeof mergeLook>[0] }) => (
  <LookMark look={mergeLook(merge)} />
);
