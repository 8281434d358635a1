"""``askfew ask``, ``tell``, ``skip``: a campaign by hand."""

import pytest

from bird_campaign import SWIMMERS, answer_all, document
from commands import Command


def test_from_a_folder_to_groups_by_hand(birds: Command) -> None:
    (question,) = document(birds("ask", "birds", "--worker", "ann", "--json"))["questions"]
    assert set(question) == {"id", "item", "question", "expires", "seconds"}
    assert birds("tell", question["id"], "yes", "--seconds", "3.5")[:2] == (
        0,
        "accepted: thank you\n",
    )
    again = document(birds("tell", question["id"], "yes", "--json"))
    assert again == {
        "id": question["id"],
        "status": "already",
        "message": "the first answer to this question counts",
    }
    status = document(birds("status", "birds", "--json"))
    assert (status["answers"], status["cost"], status["leased"]) == (1, 0.02, 0)
    assert status["workers"][0]["seconds"] == 3.5
    (question,) = document(birds("ask", "birds", "--worker", "ann", "--json"))["questions"]
    assert birds("skip", question["id"], "--reason", "dark")[:2] == (0, "accepted: skipped\n")
    answer_all()
    code, out, _ = birds("ask", "birds", "--worker", "ann")
    assert (code, out) == (0, "The campaign has ended: see 'askfew result'.\n")
    found = document(birds("result", "birds", "--json"))
    assert found["status"] == "done"
    groups = {each["item"]: each["group"] for each in found["items"]}
    assert {item for item, group in groups.items() if group == 0} == SWIMMERS
    assert birds("doctor")[0] == 0


@pytest.mark.parametrize(
    ("lease", "answer", "status"),
    [
        ("ID", "maybe", "invalid"),
        ("ID", "2", "invalid"),
        ("1-0-0-0123456789abcdef", "yes", "late"),
        ("1-0-999-0123456789abcdef", "yes", "unknown"),
        ("99-0-0-0123456789abcdef", "yes", "unknown"),
        ("99999999999999999999-0-0-ab", "yes", "unknown"),
        ("1-99999999999999999999-0-ab", "yes", "unknown"),
        ("nonsense", "yes", "unknown"),
        ("", "yes", "unknown"),
    ],
)
def test_a_refused_answer_is_a_status_and_an_exit_code(
    lease: str, answer: str, status: str, birds: Command
) -> None:
    asked = document(birds("ask", "birds", "--worker", "ann", "--json"))["questions"]
    lease = lease.replace("ID", asked[0]["id"])
    expected = 2 if status == "invalid" else 1
    told = document(birds("tell", lease, answer, "--json"), code=expected)
    assert told["status"] == status
    code, out, err = birds("tell", lease, answer)
    assert (code, err) == (expected, "")
    assert out.startswith(f"{status}: ")
    if status != "invalid":
        assert document(birds("skip", lease, "--json"), code=1)["status"] == status
