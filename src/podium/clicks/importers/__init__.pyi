from .baidu_ultr import read_baidu_ultr as read_baidu_ultr
from .click_table import read_click_table as read_click_table
from .metarank import read_metarank as read_metarank
from .open_bandit import read_open_bandit as read_open_bandit
from .tiangong import read_tiangong as read_tiangong
from .ubi import import_ubi as import_ubi
from .ubi import read_ubi as read_ubi
from .yandex import read_yandex as read_yandex
