from dataclasses import dataclass, field


@dataclass
class Speculation:
    accepted: int = 0
    drafted: int = 0

    @property
    def accept_rate(self) -> float:
        return self.accepted / self.drafted if self.drafted > 0 else 0.0

    def add(self, info: dict):
        self.accepted += info.get("accepted", 0)
        self.drafted += info.get("drafted", 0)


@dataclass
class Sample:
    reward: float
    metadata: dict = field(default_factory=dict)
    speculation: Speculation = field(default_factory=Speculation)
