// The number of open requests in the navigation.
import "../styles/parts/failing-mark.css";
import { useOpenRequests } from "./open-requests.ts";

export const OpenCount = () => {
  const open = useOpenRequests().data?.length ?? 0;
  if (open === 0) return null;
  return (
    <span className="shell-mark" data-calm>
      {open}
      <span className="visually-hidden"> open</span>
    </span>
  );
};
